import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { DAY_MS, nextRetentionCheck } from '../../model/tenants/retention.ts'
import { isBusy, isIdle, isSuspended, jobsIn, type Container } from '../../model/containers/container.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { ALL_WORK_KINDS, type WorkKindName } from '../../model/executions/work-kinds.ts'
import { objectPrefix } from '../../model/object-keys.ts'
import type { DueRow } from '../../ports/table.ts'
import type { ReconcilerDeps, RepairDeps } from '../deps.ts'
import { acquireLease, LEASE_MS } from '../../jobs/lease.ts'
import { hasSubscribers, publishContainerExpiry } from '../../operations/webhooks/publish-event.ts'
import { stopSandbox } from '../place/stop-sandbox.ts'
import { removeStaleQueueHead } from '../run/step/container-queue.ts'
import { publishCompletion } from '../../operations/executions/end-execution.ts'
import { endCancelled } from '../../operations/executions/end-without-result.ts'
import { removeSecrets } from '../../operations/network/new-policy.ts'
import { planHibernation } from './hibernation-time.ts'
import { repeatAfterMs } from './repeat-after.ts'
import { removeExecutionRow, sweepExecutions } from './sweep-executions.ts'
import { sweepVersions } from './sweep-versions.ts'

/** Minimum interval between two sweeps of a hibernated container's files, milliseconds. */
const SWEEP_AGAIN_MS = 60_000
/** An unsuccessful request to hibernate is sent again after this time, milliseconds. */
const HIBERNATE_AGAIN_MS = 60_000

const ANNOUNCED_FOR_MS = 8 * DAY_MS

/** Repairs a container: its queue, its idle sandbox, its deletion. */
export async function repairContainer(deps: RepairDeps, due: DueRow): Promise<void> {
  const container = await deps.table.containers.get(due.tenant, due.id)
  if (container === null) return
  if (container.deletedAt !== null) return sweepContainer(deps, container)
  const head = container.queue[0]
  if (head !== undefined) return advanceHead(deps, container, head)
  const now = deps.clock.now()
  const { containerDays, executionDays } = await deps.limits.of(container.tenant)
  const keptUntil = container.lastActiveAt + containerDays * DAY_MS
  if (now > keptUntil) {
    await deps.table.containers.markDeleted(container.tenant, container.id, now)
    return
  }
  const expiresAt = await announceExpiry(deps, container, now)
  if (container.sandboxId === null || isSuspended(container)) {
    const [versions, executions] = [
      await sweepVersions(deps, container, containerDays),
      await sweepExecutions(deps, container, executionDays),
    ]
    await deps.table.networkLog.removeBefore({ tenant: container.tenant, containerId: container.id }, now - executionDays * DAY_MS)
    const next = Math.max(Math.min(versions ?? Infinity, executions ?? Infinity), now + SWEEP_AGAIN_MS)
    const end = nextRetentionCheck(now, Math.min(next, expiresAt, keptUntil + 1))
    return deps.table.containers.postpone(container.tenant, container.id, end)
  }
  if (isBusy(container)) {
    await removeStaleCommands(deps, container)
    return deps.table.containers.postpone(container.tenant, container.id, now + HIBERNATE_AGAIN_MS)
  }
  const { kind, at } = await planHibernation(deps, container)
  if (kind === 'check') return deps.table.containers.postpone(container.tenant, container.id, Math.min(at, expiresAt))
  const delayMs = Math.max(0, at - now)
  await deps.table.containers.postpone(container.tenant, container.id, now + delayMs + HIBERNATE_AGAIN_MS)
  const { tenant, id: containerId, lastActiveAt: idleSince } = container
  // Only the run worker can connect to the sandbox and save its variables. It ignores the message if the container was used since.
  const message = { v: 1, type: 'container.hibernate', tenant, containerId, idleSince } as const
  await deps.queue.send('executions', message, { group: tenant, ...(delayMs === 0 ? {} : { delaySeconds: Math.ceil(delayMs / 1000) }) })
}

/**
 * Publishes `container.expired` where an endpoint waits for it. Every pass repeats it, for eight days: containers are checked once in seven days, and the
 * delivery by which a repetition is recognised is kept for longer. Returns when the container expires, epoch ms;
 * Infinity when nothing is left to publish.
 */
async function announceExpiry(deps: ReconcilerDeps, container: Container, now: number): Promise<number> {
  if (!(await hasSubscribers(deps, container.tenant, 'container.'))) return Infinity
  const expiresAt = container.lastActiveAt + container.expiresAfterMinutes * 60_000
  if (!isIdle(container, now)) return expiresAt
  if (now - expiresAt < ANNOUNCED_FOR_MS) await publishContainerExpiry(deps, container)
  return Infinity
}

/** Completes a command whose worker died after its end, and removes one whose row was never written: neither may keep the container awake. */
async function removeStaleCommands(deps: ReconcilerDeps, { tenant, id, lastActiveAt, commands = [] }: Container): Promise<void> {
  const { table, clock } = deps
  for (const commandId of commands) {
    const row = await table.executions.get(tenant, commandId)
    if (row !== null && hasEnded(row.status)) await publishCompletion(deps, row)
    // A missing row may belong to an acceptance that has not written it yet.
    if (row === null && clock.now() - lastActiveAt > RECONCILE_AFTER_MS)
      await table.containers.removeCommand(tenant, id, { commandId, now: lastActiveAt })
  }
}

/** The head has ended and was not dequeued, is missing, or waits for a message that was lost. */
async function advanceHead(deps: ReconcilerDeps, container: Container, head: string): Promise<void> {
  const { tenant, id } = container
  const now = deps.clock.now()
  const row = await deps.table.executions.get(tenant, head)
  if (row !== null && !hasEnded(row.status)) {
    const repeatMs = repeatAfterMs(now - container.lastActiveAt)
    await deps.table.containers.postpone(tenant, id, now + repeatMs)
    const isWaiting = row.lease === null || row.lease.expiresAt <= now
    // The execution itself is due soon in most cases, and its repair sends the message.
    if (isWaiting && (row.dueAt ?? Infinity) > now + repeatMs) await notifyExecution(deps.queue, { tenant, containerId: id, id: head })
    return
  }
  // A missing row may belong to an acceptance that has not written it yet.
  if (row === null && now - container.lastActiveAt < RECONCILE_AFTER_MS)
    return deps.table.containers.postpone(tenant, id, now + RECONCILE_AFTER_MS)
  await removeStaleQueueHead(deps, container, head)
}

/** Removes everything of a deleted container. Each part may be repeated; the row is removed last. */
async function sweepContainer(deps: ReconcilerDeps, container: Container): Promise<void> {
  const { tenant, id } = container
  const { executions, files, containers } = deps.table
  if (container.sandboxId !== null) await stopSandbox(deps, container.sandboxId)
  // A worker that is saving its variables must have stopped before the objects are deleted.
  const saving = container.hibernating
  if (saving !== null && saving.expiresAt > deps.clock.now()) return containers.postpone(tenant, id, saving.expiresAt)
  // Jobs that the container still lists may have ended without a usage record or a webhook.
  for (const jobId of jobsIn(container)) {
    const row = await executions.get(tenant, jobId)
    if (row !== null && hasEnded(row.status)) await publishCompletion(deps, row)
  }
  const rows = []
  for (const { name } of ALL_WORK_KINDS) rows.push(...(await allOf(deps, container, name)))
  // A step must not write events or files that no row refers to.
  const heldUntil = await endAll(deps, tenant, rows)
  if (heldUntil !== null) return containers.postpone(tenant, id, heldUntil)
  for (const row of rows) await removeExecutionRow(deps.table, { tenant, id: row.id })
  for (const file of await files.all(tenant, id)) await files.remove(tenant, id, file.id)
  await removeSecrets(deps.table, { tenant, owner: id })
  await deps.table.networkLog.removeBefore({ tenant, containerId: id }, Infinity)
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await containers.remove(tenant, id)
}

/** Lists all of them before the first is removed, because a page starts after a row that must exist. */
async function allOf(
  deps: ReconcilerDeps,
  { tenant, id }: Container,
  kind: WorkKindName,
): Promise<readonly Pick<Execution, 'id' | 'status'>[]> {
  const found: Pick<Execution, 'id' | 'status'>[] = []
  for (let after: string | null = null; ; after = found.at(-1)?.id ?? null) {
    const { rows, hasMore } = await deps.table.executions.listByContainer(tenant, id, { kind, after, limit: 100, order: 'asc' })
    found.push(...rows.map((row) => ({ id: row.id, status: row.status })))
    if (!hasMore) return found
    // The index may still list rows that an interrupted pass removed; it is consistent by the next pass.
    if (rows.length === 0) throw new Error('The list of executions lags behind the rows')
  }
}

/** Ends all jobs that have not ended. Returns the latest lease end (epoch ms) if a worker still holds one; null otherwise. */
async function endAll(deps: ReconcilerDeps, tenant: string, rows: readonly Pick<Execution, 'id' | 'status'>[]): Promise<number | null> {
  let heldUntil: number | null = null
  for (const { id, status } of rows) {
    if (hasEnded(status)) continue
    const acquired = await acquireLease(deps, deps.table.executions, { tenant, id })
    if (acquired.kind === 'acquired') await endCancelled(deps, acquired.row, 'The container was deleted.')
    else if (acquired.kind === 'busy') heldUntil = Math.max(heldUntil ?? 0, acquired.row.lease?.expiresAt ?? deps.clock.now() + LEASE_MS)
  }
  return heldUntil
}
