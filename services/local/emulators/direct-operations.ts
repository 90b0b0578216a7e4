import { createRequire } from 'node:module'
import type { Store } from './quick-store.ts'

/** How dynalite refuses a request: the answer that a listener gives. */
export interface Refusal {
  readonly statusCode: number
  readonly body: unknown
}
const isRefusal = (error: unknown): error is Refusal => typeof error === 'object' && error !== null && 'statusCode' in error

/** Takes a command's input and answers its output, both as DynamoDB's JSON has them. Rejects with a Refusal; a fault of the store is thrown to nobody. */
export type Operation = (input: object) => Promise<object>

interface Validations {
  readonly checkTypes: (input: object, types: object) => object
  readonly checkValidations: (input: object, types: object, custom: unknown, store: Store) => void
}
interface Rules {
  readonly types: object
  readonly custom: unknown
}
type Action = (store: Store, input: object, callback: (error: unknown, output?: object) => void) => void

const NAMES = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query']

const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'))

/**
 * What dynalite's listener calls once it has read a request to get, put, update, delete or query, by the operation's name: its checks and its work,
 * without the text, the headers, the random id and the checksum, which take as long again. Not for bytes, which are text in JSON.
 */
export function directOperations(store: Store): ReadonlyMap<string, Operation> {
  const { checkTypes, checkValidations } = requireOfDynalite('./validations') as Validations
  const operation = (name: string): Operation => {
    const file = name.charAt(0).toLowerCase() + name.slice(1)
    const { types, custom } = requireOfDynalite(`./validations/${file}`) as Rules
    const act = requireOfDynalite(`./actions/${file}`) as Action
    return (input) =>
      new Promise((resolve, reject) => {
        const checked = checkTypes({ ...input }, types)
        checkValidations(checked, types, custom, store)
        act(store, checked, (error, output = {}) => {
          if (error === null || error === undefined) resolve(output)
          else if (isRefusal(error)) reject(error)
          // A write that fails leaves a log behind which nothing is found again: the process ends, as it does in dynalite's listener.
          else throw error
        })
      })
  }
  return new Map(NAMES.map((name) => [name, operation(name)]))
}
