import dynalite from 'dynalite'
import { listenOnLoopback, type Emulator } from './listen.ts'

/** DynamoDB in this process. With a folder every acknowledged write outlives the process, a kill included; without one it is in memory. */
export async function startDynamoDb(folder: string | null): Promise<Emulator> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...(folder === null ? {} : { path: folder }) })
  return { ...(await listenOnLoopback(server)), serve: (request, response) => void server.emit('request', request, response) }
}
