import { buildApp } from 'fauxqs'
import type { Emulator } from './listen.ts'

/** SQS in this process, in memory: queues start empty, and the reconciler sends again what rows still wait for. */
export async function startSqs(region: string): Promise<Emulator> {
  const app = buildApp({ logger: false, defaultRegion: region })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  return { endpoint, serve: (request, response) => app.routing(request, response), stop: async () => app.close() }
}
