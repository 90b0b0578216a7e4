import { execFile } from 'node:child_process'
import { freemem } from 'node:os'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { request, Agent } from 'undici'
import { SANDBOX_LABEL, STAGE_LABEL } from '../../../services/orchestrator/drivers/docker/container-options.ts'
import { controlSocket, defaultControlRoot } from '../../../services/orchestrator/drivers/docker/control-folder.ts'
import { stageOf } from '../../../services/local/config.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient, WireExecution } from '../../support/native-client.ts'
import type { Form } from './bar.ts'

export interface Health {
  readonly boot_nonce: string
  readonly kernel: string
}

/** A container of the API together with the sandbox that holds it. */
export interface Cell {
  readonly containerId: string
  readonly sandboxId: string
  run(code: string, timeoutSeconds?: number): Promise<WireExecution>
  /** The supervisor's word, asked on its socket as the orchestrator asks. */
  health(): Promise<Health>
  /** Processes and threads of the whole sandbox. */
  tasks(): Promise<number>
  /** Resident memory of the supervisor, bytes. */
  supervisorBytes(): Promise<number>
  /** Bytes that the sandbox wrote to the host's disk: its layer above the image. It has no log. */
  hostBytes(): Promise<number>
  isThere(): Promise<boolean>
  remove(): Promise<void>
}

/** A real server with real sandboxes, and a view of them from the host. */
export interface Ground {
  readonly server: LocalServerProcess
  readonly client: NativeClient
  /** Processes and threads that a sandbox may have. */
  readonly processes: number
  /** A fresh container, its sandbox started and its kernel used once. */
  cell(): Promise<Cell>
  /** One container for every bar that leaves it usable, which is what those bars are about. */
  shared(): Promise<Cell>
  stop(): Promise<void>
}

const docker = async (...parameters: readonly string[]): Promise<string> => (await promisify(execFile)('docker', parameters)).stdout

/** Bombs fill a small sandbox as they fill the usual one, in a fraction of the time. */
const SIZES: Record<Form, { readonly processes: number; readonly disk_bytes: number; readonly inodes: number }> = {
  short: { processes: 64, disk_bytes: 32 * 1024 * 1024, inodes: 5_000 },
  long: { processes: 256, disk_bytes: 1024 * 1024 * 1024, inodes: 200_000 },
}

/** A bomb may take the kernel with it, so every program brings its own. */
const IMPORTS = 'import os, sys, time, signal, threading, subprocess\n'

export async function startGround(image: string, form: Form): Promise<Ground> {
  // Without a pool each container starts one sandbox, so it is known which one holds it.
  const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '0' } })
  const engine = new Docker()
  const client = server.native
  const agents: Agent[] = []
  let shared: Promise<Cell> | null = null
  const limits = SIZES[form]
  const sandboxes = async (): Promise<readonly string[]> => {
    const seen = await engine.listContainers({ filters: { label: [`${STAGE_LABEL}=${stageOf(server.dataDir)}`] } })
    return seen.map(({ Labels }) => Labels[SANDBOX_LABEL] ?? '')
  }

  async function cell(): Promise<Cell> {
    const before = new Set(await sandboxes())
    const containerId = await client.createContainer('limits', limits)
    await client.run(containerId, 'pass')
    const sandboxId = (await sandboxes()).find((id) => !before.has(id))
    if (sandboxId === undefined) throw new Error(`No sandbox was started for ${containerId}`)
    const dispatcher = new Agent({ connect: { socketPath: controlSocket(defaultControlRoot(), sandboxId) } })
    agents.push(dispatcher)
    const container = engine.getContainer(sandboxId)
    return {
      containerId,
      sandboxId,
      run: (code, timeoutSeconds = 60) => client.run(containerId, { code: IMPORTS + code, timeout_seconds: timeoutSeconds }),
      health: async () => (await (await request('http://sandbox/health', { dispatcher })).body.json()) as Health,
      tasks: async () => ((await container.top({ ps_args: '-eLo pid,lwp' })) as { Processes: string[][] }).Processes.length,
      supervisorBytes: async () => {
        const { Processes } = (await container.top({ ps_args: '-eo pid,rss,args' })) as { Processes: string[][] }
        const own = Processes.filter((fields) => fields.join(' ').endsWith('-m cellblock_supervisor'))
        return 1024 * Math.max(...own.map((fields) => Number(fields[1])))
      },
      hostBytes: async () => Number((await docker('inspect', '--size', '--format', '{{.SizeRw}}', sandboxId)).trim()),
      isThere: async () => (await sandboxes()).includes(sandboxId),
      remove: async () => void (await client.call('DELETE', `/v1/containers/${containerId}`)),
    }
  }

  return {
    server,
    client,
    cell,
    processes: limits.processes,
    shared: () => (shared ??= cell()),
    stop: async () => {
      await Promise.all(agents.map((agent) => agent.destroy()))
      await server.stop()
    },
  }
}

/** Each item in turn, in the shared container and `lanes - 1` others at the same time: much of what is tried over and over is waiting. */
export async function inLanes<T>(
  ground: Ground,
  lanes: number,
  items: Iterable<T>,
  each: (cell: Cell, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items].values()
  const more: Cell[] = []
  while (more.length < lanes - 1) more.push(await ground.cell())
  const lane = async (cell: Cell): Promise<void> => {
    for (const item of waiting) await each(cell, item)
  }
  await Promise.all([await ground.shared(), ...more].map(lane))
  await Promise.all(more.map((cell) => cell.remove()))
}

/** Looks again and again until `during` has ended; answers what it was and all looks in order. A look that fails is an answer too. */
export async function watchWhile<T, Look>(
  during: Promise<T>,
  look: () => Promise<Look>,
  everyMs = 25,
): Promise<{ readonly result: T; readonly looks: readonly Look[] }> {
  let isOver = false
  const ended = during.finally(() => (isOver = true))
  const looks: Look[] = []
  while (!isOver) {
    looks.push(await look())
    await Promise.race([ended.catch(() => undefined), delay(everyMs)])
  }
  return { result: await ended, looks }
}

/** How long `action` takes, milliseconds. */
export async function timed<T>(action: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const began = performance.now()
  const result = await action()
  return { ms: performance.now() - began, result }
}

/** Resolves with the time until `isSo`, milliseconds; after `atMostMs` with that. */
export async function until(isSo: () => Promise<boolean>, atMostMs: number): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < atMostMs) {
    if (await isSo()) return performance.now() - began
    await delay(20)
  }
  return atMostMs
}

/** What the host could still give to programs, bytes. */
export async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(text)?.[1]
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024
}

/** The fault of the call after a bomb: null when it worked in the same container, with a program of its own. */
export async function nextCall(cell: Cell): Promise<string | null> {
  const { status, reason, stdout } = await cell.run(
    'print(subprocess.run(["echo", "42"], capture_output=True, text=True).stdout, end="")',
    30,
  )
  return status === 'succeeded' && stdout === '42\n' ? null : `${status} ${reason} ${stdout.slice(0, 200)}`
}

/** Whether a result says that the variables are gone. */
export const saysLost = (execution: WireExecution): boolean => execution.lost.some(({ what }) => what === 'variables')
