// A proxy between a server in a container and the Docker engine (compose.yaml). It listens on a Unix socket and has no network.
import { createHash } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import * as z from 'zod'
import { readProxyConfig } from './config.ts'
import { EngineClient } from './engine-client.ts'
import { EngineProxy } from './engine-proxy.ts'

const { engineSocket, proxySocket, controlDir, images, runtime } = readProxyConfig()

/** The query of a created container repeats its body, with the profile of system calls. */
const MAX_HEADER_BYTES = 1024 ** 2
const START_TIMEOUT_MS = 30_000

const Container = z.object({ Mounts: z.array(z.object({ Source: z.string(), Destination: z.string() })) })

/** Where the engine has the folder of control sockets: it names containers by their host names. */
async function mountedFrom(engine: EngineClient, folder: string, signal: AbortSignal): Promise<string> {
  const { body } = await engine.read({ method: 'GET', path: `/containers/${hostname()}/json`, signal })
  const mount = Container.parse(body).Mounts.find(({ Destination }) => Destination === folder)
  if (mount === undefined)
    throw new Error(`${folder} must be a mount of this container, so that the engine can mount folders of it into sandboxes.`)
  return mount.Source
}

const starting = AbortSignal.timeout(START_TIMEOUT_MS)
const engine = new EngineClient(engineSocket)
const controlDirOfEngine = await mountedFrom(engine, controlDir, starting)
const proxy = new EngineProxy({
  engine,
  owner: createHash('sha256').update(controlDirOfEngine).digest('hex').slice(0, 16),
  ...{ images, runtime, controlDir, controlDirOfEngine },
})
// The server enters the folder and cannot list it.
await chmod(controlDir, 0o711)
await proxy.removeStaleFolders(starting)

const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => void proxy.handle(request, response))
await rm(proxySocket, { force: true })
server.listen(proxySocket, () => {
  // Only the server has the volume with this socket.
  void chmod(proxySocket, 0o666).then(() => process.stdout.write('✓ The engine proxy is ready.\n'))
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close(() => process.exit(0))
    server.closeAllConnections()
  })
