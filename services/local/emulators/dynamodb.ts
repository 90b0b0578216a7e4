import dynalite from 'dynalite'
import { listenOnLoopback, type Emulator } from './listen.ts'

/**
 * Small buffers are cut from slabs, and one that is kept keeps its whole slab. The table in memory keeps some for each row, so with Node's slabs
 * of 64 KB an execution would cost that much for ever.
 */
const SLAB_BYTES = 1024

/** DynamoDB in this process. With a folder every acknowledged write outlives the process, a kill included; without one it is in memory. */
export async function startDynamoDb(folder: string | null): Promise<Emulator> {
  if (folder === null) Buffer.poolSize = Math.min(Buffer.poolSize, SLAB_BYTES)
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...(folder === null ? {} : { path: folder }) })
  return { ...(await listenOnLoopback(server)), serve: (request, response) => void server.emit('request', request, response) }
}
