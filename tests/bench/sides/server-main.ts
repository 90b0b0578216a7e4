// The server under test, which also gives its parent process the rows that the API does not show.
import { readLocalConfig } from '../../../services/entries/local/config.ts'
import { raisePriority } from '../../../services/entries/local/raise-priority.ts'
import { startLocalServer } from '../../../services/entries/local/server.ts'
import type { RowsAnswer, RowsCall } from './server-table.ts'

raisePriority()
const starting = startLocalServer(readLocalConfig(process.argv.slice(2)))
const stop = (): void => void starting.then((server) => server.stop()).then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
process.once('disconnect', stop)

const server = await starting
process.on('message', ({ id, method, args }: RowsCall) => {
  const call = server.items[method].bind(server.items) as (...values: readonly unknown[]) => Promise<unknown>
  const answer = (fields: Omit<RowsAnswer, 'id'>): void => void process.send?.({ id, ...fields })
  call(...args).then(
    (result) => answer({ result: result ?? null }),
    (error: unknown) => answer({ error: String(error) }),
  )
})
process.stdout.write(`ready at ${server.url}\n`)
