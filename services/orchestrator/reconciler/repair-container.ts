import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import { CONTAINER_KEPT_MS, hasCommands, type Container } from '../../core/containers/container.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import { isId } from '../../core/ids.ts'
import { objectPrefix } from '../../core/object-keys.ts'
import { recordUsage } from '../../core/usage/record-usage.ts'
import type { DueRow } from '../../core/ports/table.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { acquireLease, LEASE_MS } from '../../jobs/lease.ts'
import { stopSandbox } from '../place/stop-sandbox.ts'
import { removeStaleQueueHead } from '../run/remove-stale-queue-head.ts'
import { endCancelled } from '../run/end-without-result.ts'
import { sweepVersions } from './sweep-versions.ts'

/** Minimum interval between two sweeps of a hibernated container's files, milliseconds. */
const SWEEP_AGAIN_MS = 60_000
/** A request to hibernate that came to nothing is sent again after this long, milliseconds. */
const HIBERNATE_AGAIN_MS = 60_000

/** Looks after a container: its queue, its idle sandbox, its end. */
export async function repairContainer(deps: ReconcilerDeps, due: DueRow): Promise<void> {
  const container = await deps.table.containers.get(due.tenant, due.id)
  if (container === null) return
  if (container.deletedAt !== null) return sweepContainer(deps, container)
  const head = container.queue[0]
  if (head !== undefined) return advanceHead(deps, container, head)
  const now = deps.clock.now()
  if (now > container.lastActiveAt + CONTAINER_KEPT_MS) {
    await deps.table.containers.markDeleted(container.tenant, container.id, now)
    return
  }
  if (container.sandboxId === null) {
    const next = Math.max((await sweepVersions(deps, container)) ?? Infinity, now + SWEEP_AGAIN_MS)
    return deps.table.containers.postpone(container.tenant, container.id, Math.min(next, container.lastActiveAt + CONTAINER_KEPT_MS))
  }
  if (hasCommands(container)) {
    await removeStaleCommands(deps, container)
    return deps.table.containers.postpone(container.tenant, container.id, now + HIBERNATE_AGAIN_MS)
  }
  const idleFrom = Math.max(container.lastActiveAt + deps.hibernateAfterMs, container.hibernating?.expiresAt ?? 0)
  if (idleFrom > now) return deps.table.containers.postpone(container.tenant, container.id, idleFrom)
  await deps.table.containers.postpone(container.tenant, container.id, now + HIBERNATE_AGAIN_MS)
  const { tenant, id: containerId, lastActiveAt: idleSince } = container
  // Only who may reach the sandbox can save its variables.
  await deps.queue.send('executions', { v: 1, type: 'container.hibernate', tenant, containerId, idleSince }, { group: tenant })
}

/** A command that has ended, or whose row was never written, must not keep the container awake. */
async function removeStaleCommands(
  { table, clock }: ReconcilerDeps,
  { tenant, id, lastActiveAt, commands = [] }: Container,
): Promise<void> {
  for (const commandId of commands) {
    const row = await table.executions.get(tenant, commandId)
    // A row that is missing for a moment belongs to an acceptance under way.
    const isStale = row === null ? clock.now() - lastActiveAt > RECONCILE_AFTER_MS : hasEnded(row.status)
    if (isStale) await table.containers.removeCommand(tenant, id, commandId, lastActiveAt)
  }
}

/** The head has ended and was not taken off, is missing, or waits for a message that never came. */
async function advanceHead(deps: ReconcilerDeps, container: Container, head: string): Promise<void> {
  const { tenant, id } = container
  const now = deps.clock.now()
  const row = await deps.table.executions.get(tenant, head)
  if (row !== null && !hasEnded(row.status)) {
    await deps.table.containers.postpone(tenant, id, now + RECONCILE_AFTER_MS)
    if (row.lease === null || row.lease.expiresAt <= now) await notifyExecution(deps.queue, tenant, id, head)
    return
  }
  // A row that is missing for a moment belongs to an acceptance under way.
  if (row === null && now - container.lastActiveAt < RECONCILE_AFTER_MS)
    return deps.table.containers.postpone(tenant, id, now + RECONCILE_AFTER_MS)
  await removeStaleQueueHead(deps, container, head)
}

/** Takes away all that a deleted container left; each part may be repeated, and the row goes last. */
async function sweepContainer(deps: ReconcilerDeps, container: Container): Promise<void> {
  const { tenant, id } = container
  const { executions, events, files, containers } = deps.table
  if (container.sandboxId !== null) await stopSandbox(deps, container.sandboxId)
  // Who saves its variables this moment must have stopped before the objects go.
  const saving = container.hibernating
  if (saving !== null && saving.expiresAt > deps.clock.now()) return containers.postpone(tenant, id, saving.expiresAt)
  // What still stands in the queue may have ended without being counted.
  for (const executionId of container.queue) {
    const row = await executions.get(tenant, executionId)
    if (row !== null && hasEnded(row.status)) await recordUsage(deps, row)
  }
  const rows = [...(await allOf(deps, container, 'listByContainer')), ...(await allOf(deps, container, 'listCommands'))]
  // A step must not write events or files that no row refers to.
  const heldUntil = await endAll(deps, tenant, rows)
  if (heldUntil !== null) return containers.postpone(tenant, id, heldUntil)
  for (const { id: executionId } of rows) {
    if (isId('command', executionId)) await events.removeAll({ kind: 'input', tenant, id: executionId })
    await events.removeAll({ kind: 'execution', tenant, id: executionId })
    await executions.remove(tenant, executionId)
  }
  for (const file of await files.all(tenant, id)) await files.remove(tenant, id, file.id)
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await containers.remove(tenant, id)
}

/** All of them before the first is removed: a page begins after a row that has to be there. */
async function allOf(
  deps: ReconcilerDeps,
  { tenant, id }: Container,
  list: 'listByContainer' | 'listCommands',
): Promise<readonly Pick<Execution, 'id' | 'status'>[]> {
  const found: Pick<Execution, 'id' | 'status'>[] = []
  for (let after: string | null = null; ; after = found.at(-1)?.id ?? null) {
    const { rows, hasMore } = await deps.table.executions[list](tenant, id, { after, limit: 100, order: 'asc' })
    found.push(...rows.map((row) => ({ id: row.id, status: row.status })))
    if (!hasMore) return found
    // The list may still name rows that an interrupted pass removed; it catches up by the next one.
    if (rows.length === 0) throw new Error('The list of executions lags behind the rows')
  }
}

/** Ends all jobs that have not ended. Returns the latest lease end (epoch ms) if a worker still holds one; null otherwise. */
async function endAll(deps: ReconcilerDeps, tenant: string, rows: readonly Pick<Execution, 'id' | 'status'>[]): Promise<number | null> {
  let heldUntil: number | null = null
  for (const { id, status } of rows) {
    if (hasEnded(status)) continue
    const taken = await acquireLease(deps, deps.table.executions, { tenant, id })
    if (taken.kind === 'taken') await endCancelled(deps, taken.row, 'The container was deleted.')
    else if (taken.kind === 'busy') heldUntil = Math.max(heldUntil ?? 0, taken.row.lease?.expiresAt ?? deps.clock.now() + LEASE_MS)
  }
  return heldUntil
}
