import { parse as parseUrl } from 'node:url'
import dynalite from 'dynalite'
import { closeIterators } from './close-iterators.ts'
import { listenOnLoopback, type Emulator } from './listen.ts'
import { quickenStore } from './quick-store.ts'
import { rememberExpressions } from './remember-expressions.ts'

/**
 * Small buffers are cut from slabs, and one that is kept keeps its whole slab. The table in memory keeps some for each row, so with Node's slabs
 * of 64 KB an execution would cost that much for ever.
 */
const SLAB_BYTES = 1024

/** What whoever asks after the end is told; the SDK does not ask again after this one. */
const CLOSED = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', message: 'The table is closed.' })

/**
 * DynamoDB in this process. With a folder every acknowledged write outlives the process, a kill included; without one it is in memory. A stop
 * waits for what this process has asked: the database under it throws at readers that it is closed beneath.
 */
export async function startDynamoDb(folder: string | null): Promise<Emulator> {
  tellOfUrlParse()
  if (folder === null) Buffer.poolSize = Math.min(Buffer.poolSize, SLAB_BYTES)
  closeIterators()
  rememberExpressions()
  quickenStore()
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...(folder === null ? {} : { path: folder }) })
  const listening = await listenOnLoopback(server)
  let asked = 0
  let isClosed = false
  let whenIdle = (): void => undefined
  return {
    ...listening,
    serve: (request, response) => {
      if (isClosed) return void response.writeHead(400).end(CLOSED)
      asked += 1
      response.once('finish', () => (asked -= 1) === 0 && whenIdle())
      server.emit('request', request, response)
    },
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
