import type { ChildProcess } from 'node:child_process'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'

export interface RowsCall {
  readonly id: number
  readonly method: keyof Items
  readonly args: readonly unknown[]
}
export interface RowsAnswer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** The rows of the server under test, for what the API does not show: calls to its process. */
export function openServerTable(server: ChildProcess): Items {
  const waiting = new Map<number, (answer: RowsAnswer) => void>()
  server.on('message', (answer: RowsAnswer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  let calls = 0
  const call = (method: keyof Items, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      calls += 1
      waiting.set(calls, ({ result, error }) => (error === undefined ? resolve(result) : reject(new Error(error))))
      server.send({ id: calls, method, args } satisfies RowsCall)
    })
  return new Proxy({} as Items, {
    get:
      (_, method) =>
      (...args: readonly unknown[]) =>
        call(method as keyof Items, args),
  })
}
