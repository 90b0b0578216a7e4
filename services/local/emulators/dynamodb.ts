import dynalite from 'dynalite'
import { listenOnLoopback, type Listening } from './listen.ts'

/** DynamoDB in this process. With a folder every acknowledged write outlives the process, a kill included; without one it is in memory. */
export function startDynamoDb(folder: string | null): Promise<Listening> {
  return listenOnLoopback(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...(folder === null ? {} : { path: folder }) }))
}
