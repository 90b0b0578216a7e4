import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stageOf } from '../../../services/local/config.ts'
import type { Inside } from './soak-child.ts'

const run = promisify(execFile)
const MiB = 1024 * 1024

/** What a server holds at one moment; everything but memory has to be back where it began. */
export interface Figures {
  readonly containers: number
  readonly volumes: number
  readonly networks: number
  readonly objects: number
  /** Halves of objects. */
  readonly uploads: number
  /** The folders of live sandboxes among them. */
  readonly temporaryFiles: number
  readonly files: number
  readonly sockets: number
  readonly timers: number
  readonly heapMiB: number
  /** What V8 holds for its heap, full or empty. */
  readonly heapHeldMiB: number
  /** Buffers and the like. */
  readonly outsideMiB: number
  readonly residentMiB: number
  readonly filePagesMiB: number
}

const lines = (text: string): number => text.split('\n').filter(Boolean).length
const docker = async (...args: readonly string[]): Promise<number> => lines((await run('docker', args)).stdout)
const count = (folder: string): Promise<number> =>
  readdir(folder, { recursive: true }).then(
    (names) => names.length,
    () => 0,
  )

/** What a process holds in memory. `files`: pages of its program and of the local table's files, which the system takes back when it wants them. */
export async function residentMiB(pid: number): Promise<{ readonly own: number; readonly files: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const inMiB = (name: string): number => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
  return { own: inMiB('RssAnon'), files: inMiB('RssFile') }
}

/** Looks at the engine, the disk, and the process from outside and inside. */
export async function measure(child: ChildProcess, scratch: string): Promise<Figures> {
  const dataDir = join(scratch, 'data')
  const pid = child.pid ?? 0
  const answered = once(child, 'message') as Promise<[Inside]>
  child.send('figures')
  const [{ memory, resources }] = await answered
  const resident = await residentMiB(pid)
  const label = `label=cellblock.stage=${stageOf(dataDir)}`
  const [containers, volumes, networks, objects, uploads, temporaryFiles, files] = await Promise.all([
    docker('ps', '-aq', '--filter', label),
    docker('volume', 'ls', '-q', '--filter', label),
    docker('network', 'ls', '-q', '--filter', label),
    count(join(dataDir, 'objects')),
    count(join(dataDir, 'objects', 'temporary')),
    readdir(scratch).then(async (names) =>
      (await Promise.all(names.filter((name) => name !== 'data').map((name) => count(join(scratch, name))))).reduce(
        (sum, n) => sum + n + 1,
        0,
      ),
    ),
    readdir(`/proc/${pid}/fd`).then((names) => names.length),
  ])
  return {
    containers,
    volumes,
    networks,
    objects,
    uploads,
    temporaryFiles,
    files,
    sockets: resources['TCPSocketWrap'] ?? 0,
    timers: resources['Timeout'] ?? 0,
    heapMiB: Math.round(memory.heapUsed / MiB),
    heapHeldMiB: Math.round(memory.heapTotal / MiB),
    outsideMiB: Math.round(memory.external / MiB),
    residentMiB: resident.own,
    filePagesMiB: resident.files,
  }
}
