import type { Targets } from '../../../scripts/hostile-programs/targets.ts'
import { randomBytes } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tripwire } from '../../../scripts/hostile-programs/program.ts'

export interface Hit {
  readonly tripwire: Tripwire
  /** The token of the program; null if another process touched the tripwire. */
  readonly token: string | null
}

export interface Tripwires {
  readonly targets: Omit<Targets, 'sibling' | 'siblingPort'>
  readonly folder: string
  /** Strings on the host that no sandbox may ever print. */
  readonly canaries: { readonly file: string; readonly secret: string }
  readonly hits: readonly Hit[]
  /** Addresses that could not be bound on this host. */
  readonly missing: readonly string[]
  stop(): Promise<void>
}

const ALIASES = { metadata: '169.254.169.254', credentials: '169.254.170.2', resolver: '169.254.169.253' } as const
export const TOKEN = /cbx-[0-9a-f]{16}/
export const newToken = (): string => `cbx-${randomBytes(8).toString('hex')}`

/** Listens on every address that an escaped program would contact. `gateway` is the host on the engine's bridge. Adds metadata service addresses to loopback until `stop`. */
export async function setTripwires(gateway: string): Promise<Tripwires> {
  const folder = await mkdtemp(join(tmpdir(), 'cbx-'))
  const hits: Hit[] = []
  const closers: (() => void)[] = []
  const missing: string[] = []
  const aliases: string[] = []
  const removeAliases = (): void => {
    for (const address of aliases.splice(0)) execFileSync('ip', ['address', 'del', `${address}/32`, 'dev', 'lo'], { stdio: 'ignore' })
  }
  process.once('exit', removeAliases)
  const hit = (tripwire: Tripwire, data: Buffer): void => {
    const token = TOKEN.exec(data.toString('latin1'))?.[0] ?? null
    hits.push({ tripwire, token })
  }
  const stream = (tripwire: Tripwire): Server =>
    createServer((socket) => {
      socket.on('error', () => undefined).once('data', (data: Buffer) => (hit(tripwire, data), socket.end('HTTP/1.0 200 OK\r\n\r\n{}')))
    })
  const listen = async (tripwire: Tripwire, where: { host: string; port: number } | { path: string }): Promise<number> => {
    const server = stream(tripwire).listen(where)
    await once(server, 'listening')
    closers.push(() => void server.close())
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  const datagrams = async (tripwire: Tripwire, host: string, port: number): Promise<void> => {
    const socket = createSocket('udp4').on('message', (data) => hit(tripwire, data))
    socket.bind(port, host)
    await once(socket, 'listening')
    closers.push(() => void socket.close())
  }
  const canaries = { file: `CANARY-${randomBytes(12).toString('hex')}`, secret: `CANARY-${randomBytes(12).toString('hex')}` }
  const flag = join(folder, 'flag.txt')
  await writeFile(flag, canaries.file)
  const engine = join(folder, 'docker.sock')
  await listen('engine', { path: engine })
  const port = await listen('tcp', { host: gateway, port: 0 })
  await datagrams('udp', gateway, port)
  const attempt = async (what: string, trying: () => Promise<unknown>): Promise<void> => {
    await trying().catch(() => void missing.push(what))
  }
  await attempt(`${gateway}:53`, () => datagrams('dns', gateway, 53))
  await attempt(`${gateway}:53/tcp`, () => listen('dns', { host: gateway, port: 53 }))
  for (const [tripwire, address] of Object.entries(ALIASES) as [keyof typeof ALIASES, string][]) {
    await attempt(address, async () => {
      execFileSync('ip', ['address', 'add', `${address}/32`, 'dev', 'lo'], { stdio: 'ignore' })
      aliases.push(address)
      await listen(tripwire, { host: address, port: 80 })
      await datagrams(tripwire, address, 53)
    })
  }
  return {
    targets: { gateway, port, flag, engine, ...ALIASES },
    folder,
    canaries,
    hits,
    missing,
    stop: async () => {
      for (const close of closers.toReversed()) close()
      removeAliases()
      process.removeListener('exit', removeAliases)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
