import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stageOf } from '../../../services/entries/local/config.ts'
import type { ProcessFigures } from './soak-child.ts'

const run = promisify(execFile)
const MiB = 1024 * 1024

/** The resources that a server holds at one moment. All except memory must return to the baseline. */
export interface Figures {
  readonly containers: number
  readonly volumes: number
  readonly networks: number
  readonly objects: number
  /** Unfinished uploads. */
  readonly uploads: number
  /** Includes the folders of live sandboxes. */
  readonly temporaryFiles: number
  readonly files: number
  readonly sockets: number
  readonly timers: number
  readonly heapMiB: number
  /** The heap that V8 has reserved. */
  readonly heapHeldMiB: number
  /** Memory outside the heap, such as buffers. */
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

/** The resident memory of a process. `files`: pages of mapped files, which the kernel can reclaim. */
export async function residentMiB(pid: number): Promise<{ readonly own: number; readonly files: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const inMiB = (name: string): number => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
  return { own: inMiB('RssAnon'), files: inMiB('RssFile') }
}

/** Measures the engine's resources, the disk and the server process. */
export async function measure(child: ChildProcess, scratch: string): Promise<Figures> {
  const dataDir = join(scratch, 'data')
  const pid = child.pid ?? 0
  const answered = once(child, 'message') as Promise<[ProcessFigures]>
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
