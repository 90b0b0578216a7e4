import { parse as parseUrl } from 'node:url'
import dynalite from 'dynalite'
import { closeIterators } from './close-iterators.ts'
import { directOperations, type Operation } from './direct-operations.ts'
import { listenOnLoopback, type Emulator } from './listen.ts'
import { quickenStore, storeOf } from './quick-store.ts'
import { rememberExpressions } from './remember-expressions.ts'

/**
 * Small buffers are cut from slabs, and one that is kept keeps its whole slab. The table in memory keeps some for each row, so with Node's slabs
 * of 64 KB an execution would cost that much for ever.
 */
const SLAB_BYTES = 1024

/** What whoever asks after the end is told; the SDK does not ask again after this one. */
const CLOSED = { __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', message: 'The table is closed.' }

export interface EmulatedDynamoDb extends Emulator {
  /** For callers in this process, by the operation's name. */
  readonly operations: ReadonlyMap<string, Operation>
}

/**
 * DynamoDB in this process. With a folder every acknowledged write outlives the process, a kill included; without one it is in memory. A stop
 * waits for what this process has asked: the database under it throws at readers that it is closed beneath.
 */
export async function startDynamoDb(folder: string | null): Promise<EmulatedDynamoDb> {
  tellOfUrlParse()
  if (folder === null) Buffer.poolSize = Math.min(Buffer.poolSize, SLAB_BYTES)
  closeIterators()
  rememberExpressions()
  quickenStore()
  const options = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...(folder === null ? {} : { path: folder }) }
  const server = dynalite(options)
  const listening = await listenOnLoopback(server)
  let asked = 0
  let isClosed = false
  let whenIdle = (): void => undefined
  const began = (): void => void (asked += 1)
  const ended = (): void => {
    asked -= 1
    if (asked === 0) whenIdle()
  }
  const whileOpen =
    (operation: Operation): Operation =>
    (input) => {
      if (isClosed) return Promise.reject({ statusCode: 400, body: CLOSED })
      began()
      return operation(input).finally(ended)
    }
  return {
    ...listening,
    serve: (request, response) => {
      if (isClosed) return void response.writeHead(400).end(JSON.stringify(CLOSED))
      began()
      response.once('finish', ended)
      server.emit('request', request, response)
    },
    operations: new Map([...directOperations(storeOf(options))].map(([name, operation]) => [name, whileOpen(operation)])),
    async stop() {
      isClosed = true
      if (asked > 0) await new Promise<void>((resolve) => (whenIdle = resolve))
      await listening.stop()
    },
  }
}

/**
 * The emulator parses each request's address with `url.parse`. Until Node has told once that this is deprecated, it walks the stack at every
 * call to find out whether a package does it. So it is told here, to nobody.
 */
function tellOfUrlParse(): void {
  const before = process.noDeprecation
  process.noDeprecation = true
  parseUrl('/')
  process.noDeprecation = before ?? false
}
