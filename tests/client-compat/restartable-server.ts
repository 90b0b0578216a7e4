import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** A server that a test in another language can restart. */
export interface Restartable extends Pick<LocalServerProcess, 'url' | 'apiKey'> {
  /** A request to it stops the server and starts it again, at the same address and with the same data. */
  readonly restartUrl: string
  stop(): Promise<void>
}

export async function startRestartable(env: Readonly<Record<string, string>>): Promise<Restartable> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-restartable-'))
  let server = await startServer({ dataDir, env })
  const { url, apiKey } = server
  const control = createServer((_request, response) => {
    void (async () => {
      await server.stop()
      server = await startServer({ dataDir, env: { ...env, PORT: new URL(url).port } })
      response.end()
    })().catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  control.listen(0, '127.0.0.1')
  await once(control, 'listening')
  return {
    url,
    apiKey,
    restartUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}/`,
    async stop() {
      control.close()
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
