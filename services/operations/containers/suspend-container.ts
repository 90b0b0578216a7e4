import { setTimeout as delay } from 'node:timers/promises'
import { isSuspended, type Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { Table } from '../../ports/table.ts'
import { requestResume } from '../sandboxes/request-resume.ts'
import { checkConcurrency } from '../tenancy/check-limits.ts'
import type { ResourceCounts } from '../tenancy/resource-counts.ts'
import { releaseSandbox, type ReleasePorts } from './release-sandbox.ts'

/** Saving a large kernel takes the longest. */
const TIMEOUT_MS = 55_000
const POLL_MS = 3

export interface SuspendPorts extends ReleasePorts {
  readonly table: Pick<Table, 'containers' | 'sandboxes'>
  readonly counts: ResourceCounts
  readonly canSuspend?: boolean
}

/** `released`: it has no sandbox, and the next call gets one with its variables and files. */
export interface ContainerProcesses {
  readonly state: 'running' | 'suspended' | 'released'
  /** Of a suspended one. */
  readonly checkpointBytes: number | null
}

const NOT_KEPT =
  'The sandboxes of this server cannot keep their processes, so the container cannot be suspended. It hibernates by itself when it is idle, which keeps its variables and files. The operator of a server on one machine can start it with --runtime gvisor.'

/** Suspends a container, with its commands. Throws ServiceError `conflict` where that is impossible, and while code runs. */
export async function suspendContainer(ports: SuspendPorts, container: Container, signal: AbortSignal): Promise<ContainerProcesses> {
  if (ports.canSuspend !== true) throw new ServiceError('conflict', NOT_KEPT)
  if (container.queue.length > 0) throw inUse(container)
  const released = await releaseSandbox(ports, container, { timeoutMs: TIMEOUT_MS, signal, keepsProcesses: true })
  if (released === 'busy') throw inUse(container)
  return released === null ? RELEASED : settled(ports, released, { passing: ['suspending', 'claimed'], signal })
}

/** Continues the processes of a suspended container. One that has none is left to its next call. */
export async function resumeContainer(ports: SuspendPorts, container: Container, signal?: AbortSignal): Promise<ContainerProcesses> {
  if (ports.canSuspend !== true) throw new ServiceError('conflict', NOT_KEPT)
  const { tenant, sandboxId } = container
  if (!isSuspended(container) || sandboxId === null) return sandboxId === null ? RELEASED : RUNNING
  const before = await settled(ports, container, { passing: ['suspending'], signal })
  if (before.state !== 'suspended') return before
  await checkConcurrency(ports, container)
  await requestResume(ports, tenant, sandboxId)
  return settled(ports, container, { passing: ['starting', 'suspending'], signal })
}

const RELEASED: ContainerProcesses = { state: 'released', checkpointBytes: null }
const RUNNING: ContainerProcesses = { state: 'running', checkpointBytes: null }

const inUse = ({ id }: Container): ServiceError =>
  new ServiceError(
    'conflict',
    `Container ${id} is in use: an execution has not ended. Wait for it or cancel it, then suspend the container.`,
  )

/** Waits while the sandbox of a suspended container is in one of these states. */
async function settled(
  { table, clock }: SuspendPorts,
  { tenant, id }: Container,
  { passing, signal }: { readonly passing: readonly Sandbox['state'][]; readonly signal: AbortSignal | undefined },
): Promise<ContainerProcesses> {
  for (const deadline = clock.now() + TIMEOUT_MS; ; await delay(POLL_MS)) {
    const row = await table.containers.get(tenant, id)
    if (row === null || row.deletedAt !== null || row.sandboxId === null) return RELEASED
    const sandbox = await table.sandboxes.get(row.sandboxId)
    if (sandbox === null || sandbox.state === 'gone' || sandbox.state === 'stopping') return RELEASED
    const isPassing = passing.includes(sandbox.state) && (isSuspended(row) || sandbox.state !== 'claimed')
    if (!isPassing && sandbox.state === 'suspended') return { state: 'suspended', checkpointBytes: sandbox.checkpoint?.bytes ?? 0 }
    if (!isPassing) return RUNNING
    if (clock.now() >= deadline || signal?.aborted === true)
      throw new ServiceError('sandbox_unavailable', `The sandbox of container ${id} takes longer than expected. Try again.`)
  }
}
