import { execFile } from 'node:child_process'
import { freemem } from 'node:os'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { request, Agent } from 'undici'
import { SANDBOX_LABEL, STAGE_LABEL } from '../../../services/adapters/drivers/docker/container-options.ts'
import { openProcessorTime } from '../../support/processor-time.ts'
import { controlSocket, defaultControlRoot } from '../../../services/adapters/drivers/docker/control-folder.ts'
import { stageOf } from '../../../services/entries/local/config.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient, WireExecution } from '../../support/native-client.ts'

/** `short` is part of `npm test`, where other suites use the machine too. `long` checks the threshold itself with every repetition. */
export type Form = 'short' | 'long'

export interface Health {
  readonly boot_nonce: string
  readonly kernel: string
}

/** A container of the API together with its sandbox. */
export interface TestContainer {
  readonly containerId: string
  readonly sandboxId: string
  run(code: string, timeoutSeconds?: number): Promise<WireExecution>
  /** The supervisor's health reply, requested on its socket as the orchestrator does. */
  health(): Promise<Health>
  /** The number of processes and threads in the sandbox. */
  tasks(): Promise<number>
  /** Processor time of the sandbox so far, milliseconds. */
  processorMs(): Promise<number>
  /** Resident memory of the supervisor, bytes. */
  supervisorBytes(): Promise<number>
  /** Bytes that the sandbox wrote to the host's disk: its writable layer. The container has no log. */
  hostBytes(): Promise<number>
  isThere(): Promise<boolean>
  remove(): Promise<void>
}

/** A real server with real sandboxes, which the test inspects from the host. */
export interface LimitHarness {
  readonly server: LocalServerProcess
  readonly client: NativeClient
  /** The process and thread limit of a sandbox. */
  readonly processes: number
  /** Creates a container, starts its sandbox and runs code once. */
  cell(): Promise<TestContainer>
  /** A container shared by the thresholds after which a container must stay usable. */
  shared(): Promise<TestContainer>
  stop(): Promise<void>
}

const docker = async (...parameters: readonly string[]): Promise<string> => (await promisify(execFile)('docker', parameters)).stdout

/** A resource bomb fills a small sandbox faster than the default one, with the same result. */
const SIZES: Record<Form, { readonly processes: number; readonly disk_bytes: number; readonly inodes: number }> = {
  short: { processes: 64, disk_bytes: 32 * 1024 * 1024, inodes: 5_000 },
  long: { processes: 256, disk_bytes: 1024 * 1024 * 1024, inodes: 200_000 },
}

/** A resource bomb may end the kernel, so every program has its own imports. */
const IMPORTS = 'import os, sys, time, signal, threading, subprocess\n'

export async function startLimitHarness(image: string, form: Form): Promise<LimitHarness> {
  // Without a warm pool each container starts one sandbox, so the mapping is known.
  const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '0' } })
  const engine = new Docker()
  const client = server.native
  const agents: Agent[] = []
  const processors: AsyncDisposable[] = []
  let shared: Promise<TestContainer> | null = null
  const limits = SIZES[form]
  const sandboxes = async (): Promise<readonly string[]> => {
    const seen = await engine.listContainers({ filters: { label: [`${STAGE_LABEL}=${stageOf(server.dataDir)}`] } })
    return seen.map(({ Labels }) => Labels[SANDBOX_LABEL] ?? '')
  }

  async function cell(): Promise<TestContainer> {
    const before = new Set(await sandboxes())
    const containerId = await client.createContainer('limits', limits)
    await client.run(containerId, 'pass')
    const sandboxId = (await sandboxes()).find((id) => !before.has(id))
    if (sandboxId === undefined) throw new Error(`No sandbox was started for ${containerId}`)
    const dispatcher = new Agent({ connect: { socketPath: controlSocket(defaultControlRoot(), sandboxId) } })
    agents.push(dispatcher)
    const container = engine.getContainer(sandboxId)
    const processor = await openProcessorTime(sandboxId)
    processors.push(processor)
    return {
      containerId,
      sandboxId,
      run: (code, timeoutSeconds = 60) => client.run(containerId, { code: IMPORTS + code, timeout_seconds: timeoutSeconds }),
      health: async () => (await (await request('http://sandbox/health', { dispatcher })).body.json()) as Health,
      tasks: async () => ((await container.top({ ps_args: '-eLo pid,lwp' })) as { Processes: string[][] }).Processes.length,
      processorMs: processor.readMs,
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
      await Promise.all(processors.map((processor) => processor[Symbol.asyncDispose]()))
      await server.stop()
    },
  }
}

/** Handles the items in the shared container and `lanes - 1` others in parallel, because each item mostly waits. */
export async function inLanes<T>(
  harness: LimitHarness,
  lanes: number,
  items: Iterable<T>,
  each: (cell: TestContainer, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items].values()
  const more: TestContainer[] = []
  while (more.length < lanes - 1) more.push(await harness.cell())
  const lane = async (cell: TestContainer): Promise<void> => {
    for (const item of waiting) await each(cell, item)
  }
  await Promise.all([await harness.shared(), ...more].map(lane))
  await Promise.all(more.map((cell) => cell.remove()))
}

/** Takes samples until `during` has ended. Returns its result and the samples in order. */
export async function sampleWhile<T, Sample>(
  during: Promise<T>,
  takeSample: () => Promise<Sample>,
  everyMs = 25,
): Promise<{ readonly result: T; readonly samples: readonly Sample[] }> {
  let isOver = false
  const ended = during.finally(() => (isOver = true))
  const samples: Sample[] = []
  while (!isOver) {
    samples.push(await takeSample())
    await Promise.race([ended.catch(() => undefined), delay(everyMs)])
  }
  return { result: await ended, samples }
}

/** Measures the duration of `action` in milliseconds. */
export async function timed<T>(action: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const began = performance.now()
  const result = await action()
  return { ms: performance.now() - began, result }
}

/** Polls until `condition` holds. Returns the time taken in milliseconds, at most `timeoutMs`. */
export async function until(condition: () => Promise<boolean>, timeoutMs: number): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < timeoutMs) {
    if (await condition()) return performance.now() - began
    await delay(20)
  }
  return timeoutMs
}

/** The available memory of the host, bytes. */
export async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(text)?.[1]
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024
}

/** Runs a call with a child process in the same container. Returns its failure, or null. */
export async function nextCall(cell: TestContainer): Promise<string | null> {
  const { status, reason, stdout } = await cell.run(
    'print(subprocess.run(["echo", "42"], capture_output=True, text=True).stdout, end="")',
    120,
  )
  return status === 'succeeded' && stdout === '42\n' ? null : `${status} ${reason} ${stdout.slice(0, 200)}`
}

/** Whether a result reports lost variables. */
export const reportsLostVariables = (execution: WireExecution): boolean => execution.lost.some(({ what }) => what === 'variables')
