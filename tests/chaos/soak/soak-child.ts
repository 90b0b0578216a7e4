import { readLocalConfig } from '../../../services/entries/local/config.ts'
import { startLocalServer } from '../../../services/entries/local/server.ts'

/** Figures of the server process, sent on request. */
export interface ProcessFigures {
  /** Measured after a garbage collection. `heapTotal`: the heap that V8 has reserved; `external` and `arrayBuffers`: bytes outside it. */
  readonly memory: NodeJS.MemoryUsage
  /** Timers, sockets and other resources that keep a process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>
}

/** The local server as a child process that reports its figures to its parent. */
const server = await startLocalServer(readLocalConfig(process.argv.slice(2)))
const stop = (): void => void server.stop().then(() => process.exit(0))
// Ctrl-C reaches this process too, but the parent decides when to stop it.
process.on('SIGINT', () => undefined)
// Stop when the parent exits.
process.on('disconnect', stop)
process.on('message', (message: 'figures' | 'stop') => {
  if (message === 'stop') return stop()
  globalThis.gc?.()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const figures: ProcessFigures = { memory: process.memoryUsage(), resources }
  process.send?.(figures)
})
await server.warm
process.send?.({ url: server.url, apiKey: server.apiKey })
