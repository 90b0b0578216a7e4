// A proxy between a server in a container and the Docker engine (compose.yaml). It listens on a Unix socket and has no network.
import { createHash } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import * as z from 'zod'
import { imageList } from '../local/config-lists.ts'
import { EngineClient } from './engine-client.ts'
import { EngineProxy } from './engine-proxy.ts'

const { ENGINE_SOCKET, ENGINE_PROXY_SOCKET, CELLBLOCK_CONTROL_DIR, CELLBLOCK_IMAGES, SANDBOX_DOCKER_RUNTIME } = z
  .object({
    /** The engine's socket. */
    ENGINE_SOCKET: z.string().default('/var/run/docker.sock'),
    /** The socket for the server. */
    ENGINE_PROXY_SOCKET: z.string(),
    /** The folder of control sockets: a mount that only this process writes to, and that the server has at the same path. */
    CELLBLOCK_CONTROL_DIR: z.string(),
    /** The images of the server. */
    CELLBLOCK_IMAGES: imageList,
    SANDBOX_DOCKER_RUNTIME: z.string().min(1).optional(),
  })
  .parse(Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== '')))

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
const engine = new EngineClient(ENGINE_SOCKET)
const controlDirOfEngine = await mountedFrom(engine, CELLBLOCK_CONTROL_DIR, starting)
const proxy = new EngineProxy({
  engine,
  owner: createHash('sha256').update(controlDirOfEngine).digest('hex').slice(0, 16),
  images: Object.values(CELLBLOCK_IMAGES),
  runtime: SANDBOX_DOCKER_RUNTIME,
  controlDir: CELLBLOCK_CONTROL_DIR,
  controlDirOfEngine,
})
// The server enters the folder and cannot list it.
await chmod(CELLBLOCK_CONTROL_DIR, 0o711)
await proxy.removeStaleFolders(starting)

const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => void proxy.handle(request, response))
await rm(ENGINE_PROXY_SOCKET, { force: true })
server.listen(ENGINE_PROXY_SOCKET, () => {
  // Only the server has the volume with this socket.
  void chmod(ENGINE_PROXY_SOCKET, 0o666).then(() => process.stdout.write('✓ The engine proxy is ready.\n'))
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close(() => process.exit(0))
    server.closeAllConnections()
  })
