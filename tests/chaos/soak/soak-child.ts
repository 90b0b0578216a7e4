import { readLocalConfig } from '../../../services/local/config.ts'
import { startLocalServer } from '../../../services/local/server.ts'

/** What the server process says of itself when it is asked. */
export interface Inside {
  /** After a collection. `heapTotal`: what V8 holds, full or empty; `external` and `arrayBuffers`: bytes outside its heap. */
  readonly memory: NodeJS.MemoryUsage
  /** Timers, sockets and whatever else keeps a process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>
}

/** The local server as a process that its parent can look into. */
const server = await startLocalServer(readLocalConfig(process.argv.slice(2)))
const stop = (): void => void server.stop().then(() => process.exit(0))
// Ctrl-C reaches this process too; its parent says when to stop.
process.on('SIGINT', () => undefined)
// A parent that died leaves nothing running.
process.on('disconnect', stop)
process.on('message', (word: 'figures' | 'stop') => {
  if (word === 'stop') return stop()
  globalThis.gc?.()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const inside: Inside = { memory: process.memoryUsage(), resources }
  process.send?.(inside)
})
await server.warm
process.send?.({ url: server.url, apiKey: server.apiKey })
