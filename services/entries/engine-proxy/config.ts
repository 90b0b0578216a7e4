import * as z from 'zod'
import { imageList } from '../local/config-lists.ts'

const ProxyEnv = z.object({
  /** The engine's socket. */
  ENGINE_SOCKET: z.string().default('/var/run/docker.sock'),
  /** The socket for the server. */
  ENGINE_PROXY_SOCKET: z.string(),
  /** The folder of control sockets: a mount that only the proxy writes to, and that the server has at the same path. */
  CELLBLOCK_CONTROL_DIR: z.string(),
  /** The images of the server. */
  CELLBLOCK_IMAGES: imageList,
  SANDBOX_DOCKER_RUNTIME: z.string().optional(),
})

export interface ProxyConfig {
  readonly engineSocket: string
  readonly proxySocket: string
  readonly controlDir: string
  readonly images: readonly string[]
  readonly runtime: string | undefined
}

/** Throws a ZodError that names the variable at fault; an empty variable counts as unset. */
export function readProxyConfig(env: Readonly<Record<string, string | undefined>> = process.env): ProxyConfig {
  const values = ProxyEnv.parse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')))
  return {
    engineSocket: values.ENGINE_SOCKET,
    proxySocket: values.ENGINE_PROXY_SOCKET,
    controlDir: values.CELLBLOCK_CONTROL_DIR,
    images: Object.values(values.CELLBLOCK_IMAGES),
    runtime: values.SANDBOX_DOCKER_RUNTIME,
  }
}
