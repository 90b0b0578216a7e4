import { noteResumed } from '../../../operations/sandboxes/note-resumed.ts'
import { notifyExecution } from '../../../operations/notify/notify-execution.ts'
import { commandSourceOf } from '../../../model/executions/work-kinds.ts'
import { firstRetentionCheck } from '../../../model/tenants/retention.ts'
import {
  commandsOf,
  isBusy,
  isHibernated,
  isSaved,
  isSuspended,
  readyJobsIn,
  type Container,
  type Hibernation,
  type Snapshot,
} from '../../../model/containers/container.ts'
import { hasEnded, type Execution, type Lost } from '../../../model/executions/execution.ts'
import type { HibernateMessage } from '../../../model/messages.ts'
import type { NamespaceUsage } from '../../../ports/supervisor.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import { TIERS } from '../../../model/limits.ts'
import { SANDBOX_CHECK_MS } from '../../../operations/sandboxes/new-sandbox.ts'
import { dayOf } from '../../../model/usage/usage.ts'
import type { RunDeps, StepDeps } from '../../deps.ts'
import type { SandboxFinder } from '../sandboxes/sandbox-finder.ts'
import { LEASE_MS, LeaseLostError } from '../../../jobs/lease.ts'
import { startLeaseHeartbeat } from '../../../jobs/lease-heartbeat.ts'
import { cancelExecution } from '../../../operations/executions/cancel-execution.ts'
import { publishCompletion } from '../../../operations/executions/end-execution.ts'
import { namespaceBudget } from '../transfer/namespace-budget.ts'
import { saveVariables } from '../transfer/save-variables.ts'
import { keepFiles } from '../transfer/keep-files.ts'
import { truncateLosses } from '../transfer/losses.ts'

/** The command line of a lost command is cut to this length. */
const MAX_SHOWN_CHARACTERS = 120

/** What happens to a container whose sandbox is released. */
type HibernationResult = Pick<Container, 'snapshot' | 'stateLost'>

/** The row of a container whose sandbox runs on: it gets a snapshot that only its copies use, and what that lacks. */
function forCopies(
  { lastActiveAt, stateLost, lostFiles }: Container,
  saved: HibernationResult,
  missing: { readonly claim: Hibernation; readonly lostFiles: readonly Lost[] },
) {
  const { objectKey, expiresAt: dueAt } = missing.claim
  const variables = saved.snapshot === null && saved.stateLost !== null ? [{ what: 'variables', reason: saved.stateLost }] : []
  const base = saved.snapshot ?? { objectKey, bytes: 0, takenAt: 0, tries: 0 }
  const lost = truncateLosses([...variables, ...missing.lostFiles])
  return { stateLost, lostFiles: lostFiles ?? [], dueAt, snapshot: { ...base, isRestored: true, copiedAt: lastActiveAt, lost } }
}

/**
 * Saves the variables of an idle container and releases its sandbox. The claim is granted only while the queue is empty, and no code starts under it.
 * If an execution is accepted meanwhile, the container keeps its sandbox and the snapshot is discarded. A failure outside the sandbox changes nothing
 * and throws, so that the message is redelivered.
 */
export async function hibernate(deps: StepDeps, finder: SandboxFinder, message: HibernateMessage): Promise<void> {
  const { containers } = deps.table
  const { tenant, containerId: id } = message
  const before = await idleContainer(deps, message)
  if (before === null) return
  const keepsCommands = mayKeepCommands(deps, message)
  // The steps of these commands report their ends; the sender of the message sends it again.
  if (!keepsCommands && !isBusy(before) && (await endCommands(deps, before, before.backgroundCommands ?? []))) return
  const now = deps.clock.now()
  const claim: Hibernation = { objectKey: newObjectKey(tenant, 'snapshots', id), expiresAt: now + LEASE_MS }
  const claimed = await containers.claimHibernation(tenant, id, { idle: before, claim, now, keepsCommands })
  if (claimed === null) return
  const lease = startLeaseHeartbeat({
    id,
    clock: deps.clock,
    renew: async (expiresAt) => (await containers.renewHibernation(tenant, id, { objectKey: claim.objectKey, expiresAt })) !== null,
  })
  try {
    const deleted = deleteOutdated(deps, before.hibernating, claimed.snapshot)
    deleted.catch(() => undefined)
    const saved = await save(deps, finder, { container: claimed, objectKey: claim.objectKey, signal: lease.signal })
    await deleted
    const lostFiles = await saveFiles(deps, finder, { container: claimed, keepsLinks: saved.snapshot !== null, signal: lease.signal })
    const dueAt = firstRetentionCheck(deps.clock.now())
    const fresh = saved.snapshot?.objectKey === claim.objectKey ? saved.snapshot : null
    const kept = fresh !== null && mayKeepProcesses(deps, message) ? await reserveForSuspension(deps, claimed, fresh) : null
    // Without a checkpoint they end, as on every other platform, and the next message finds none.
    if (kept === null && keepsCommands && (await endCommands(deps, claimed, commandsOf(claimed))))
      return await discardSnapshot(deps, before, claim.objectKey)
    const runsOn = kept === null && message.isForCopy === true
    const result = runsOn
      ? forCopies(claimed, saved, { claim, lostFiles })
      : { ...saved, snapshot: kept ?? saved.snapshot, lostFiles, dueAt }
    const commands = keepsCommands ? { commandsSince: claimed.lastActiveAt } : {}
    const hibernated = await containers.hibernate(tenant, id, { objectKey: claim.objectKey, ...result, ...commands })
    if (hibernated === null && fresh !== null) await deps.objects.delete(claim.objectKey)
    const outcome = hibernated === null ? 'interrupted' : fresh === null ? 'not_saved' : runsOn ? 'copied' : 'saved'
    emitHibernation(deps, claimed, { outcome, bytes: result.snapshot?.bytes ?? 0, hibernate_ms: deps.clock.now() - now })
    const isReleased = hibernated !== null && !runsOn
    if (isReleased) await deps.network?.enforcer.release(id).catch(() => undefined)
    if (kept !== null) await settleSuspension(deps, claimed)
    // If the message is lost, the reconciler stops the sandbox, which no container refers to.
    else if (isReleased) await stop(deps, claimed)
  } catch (cause) {
    await discardSnapshot(deps, before, claim.objectKey).catch(() => undefined)
    if (!(cause instanceof LeaseLostError)) throw cause
  } finally {
    lease.stop()
    const after = await containers.endHibernation(tenant, id, claim.objectKey).catch(() => null)
    const waiting = after === null ? [] : readyJobsIn(after)
    for (const jobId of waiting) await notifyExecution(deps.queue, { tenant, containerId: id, id: jobId })
  }
}

/** The container that the message means, while it has a sandbox to release. One that was resumed and not used is awake again. */
async function idleContainer({ table }: RunDeps, message: HibernateMessage): Promise<Container | null> {
  const row = await table.containers.get(message.tenant, message.containerId)
  if (row === null || row.sandboxId === null) return null
  if (message.isForCopy === true && isSaved(row)) return null
  if (message.sandboxId === undefined ? row.lastActiveAt !== message.idleSince : row.sandboxId !== message.sandboxId) return null
  if (!isSuspended(row)) return row
  const sandbox = await table.sandboxes.get(row.sandboxId)
  return sandbox?.state === 'claimed' ? noteResumed(table, row) : null
}

/**
 * Deletes a snapshot that the container does not name. The write that names it may have succeeded although its reply was lost; an object that cannot be
 * checked stays and is deleted with the container.
 */
async function discardSnapshot(deps: RunDeps, { tenant, id }: Container, objectKey: string): Promise<void> {
  const row = await deps.table.containers.get(tenant, id)
  if (row?.snapshot?.objectKey !== objectKey) await deps.objects.delete(objectKey)
}

/** Snapshots of a crashed worker and of the previous hibernation: neither is restored again. */
async function deleteOutdated({ objects }: RunDeps, crashed: Hibernation | null, previous: Snapshot | null): Promise<void> {
  if (crashed !== null) await objects.delete(crashed.objectKey)
  if (previous?.isRestored === true) await objects.delete(previous.objectKey)
}

/** Ends the claim of a worker that died; null while it may be alive. */
export async function breakHibernation(deps: RunDeps, container: Container, claim: Hibernation): Promise<Container | null> {
  if (claim.expiresAt > deps.clock.now()) return null
  const awake = await deps.table.containers.endHibernation(container.tenant, container.id, claim.objectKey)
  if (awake !== null) await deps.objects.delete(claim.objectKey).catch(() => undefined)
  return awake
}

async function save(
  deps: StepDeps,
  finder: SandboxFinder,
  { container, objectKey, signal }: { readonly container: Container; readonly objectKey: string; readonly signal: AbortSignal },
): Promise<HibernationResult> {
  const { stateLost, sandboxId } = container
  // No code ran in this sandbox, so the state of the previous one still applies.
  if (isHibernated(container)) return { snapshot: container.snapshot, stateLost }
  const session = await finder.own(container)
  if (session === null) {
    const sandbox = sandboxId === null ? null : await deps.table.sandboxes.get(sandboxId)
    const neverRan = sandbox !== null && sandbox.address === null
    return { snapshot: null, stateLost: neverRan ? stateLost : 'The sandbox that held them was lost.' }
  }
  const budget = namespaceBudget(await deps.limits.of(container.tenant), container.limits)
  const saved = await saveVariables(deps, { session, objectKey, budget, signal })
  await recordSaving(deps, container, { objectKey, usage: saved.usage })
  if (saved.kind === 'lost') return { snapshot: null, stateLost: saved.why }
  return { snapshot: { objectKey, bytes: saved.bytes, takenAt: deps.clock.now(), tries: 0, isRestored: false }, stateLost }
}

/** Returns the losses among the files; those of before when the sandbox is gone. */
async function saveFiles(
  deps: StepDeps,
  finder: SandboxFinder,
  { container, keepsLinks, signal }: { readonly container: Container; readonly keepsLinks: boolean; readonly signal: AbortSignal },
): Promise<readonly Lost[]> {
  const session = await finder.own(container)
  return session === null ? (container.lostFiles ?? []) : keepFiles(deps, container, { session, keepsLinks, signal })
}

/** Saving runs user code, so its processor time counts. A repetition after a crash ran again, so it has another object key and counts again. */
async function recordSaving(
  deps: RunDeps,
  { tenant, subject }: Container,
  { objectKey, usage }: { readonly objectKey: string; readonly usage: NamespaceUsage },
): Promise<void> {
  await deps.table.usage.put({
    v: 1,
    tenant,
    subject,
    executionId: `save-${objectKey.slice(objectKey.lastIndexOf('/') + 1)}`,
    purpose: 'saving',
    day: dayOf(deps.clock.now()),
    sandboxSeconds: 0,
    cpuMs: usage.sandboxCpuMs ?? usage.cpuMs,
    peakMemoryBytes: 0,
    outputBytes: 0,
    costUsd: 0,
  })
}

async function stop({ queue }: RunDeps, { sandboxId }: Container): Promise<void> {
  if (sandboxId === null) return
  await queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId }, { group: '_pool' }).catch(() => undefined)
}

function emitHibernation(
  { telemetry }: RunDeps,
  { tenant, id, sandboxId }: Container,
  measured: { readonly outcome: string; readonly bytes: number; readonly hibernate_ms: number },
): void {
  telemetry.emit({ event: 'hibernate', tenant, container: id, sandbox: sandboxId, ...measured })
}

/** Not in a sandbox that the platform takes away. */
const mayKeepProcesses = ({ canSuspend = false }: StepDeps, { sandboxId, endsProcesses = false }: HibernateMessage): boolean =>
  canSuspend && sandboxId === undefined && !endsProcesses

/** A suspended sandbox keeps them. A copy must not have them too. */
const mayKeepCommands = (deps: StepDeps, message: HibernateMessage): boolean =>
  mayKeepProcesses(deps, message) && message.isForCopy !== true

/** Requests the end of commands of a container that is about to hibernate, and names them for the next execution. False: none runs. */
async function endCommands(deps: RunDeps, container: Container, commandIds: readonly string[]): Promise<boolean> {
  const { tenant, id, lostCommands = [] } = container
  if (commandIds.length === 0) return false
  const { table, clock } = deps
  const lost: Lost[] = [...lostCommands]
  for (const commandId of commandIds) {
    const found = await table.executions.get(tenant, commandId)
    if (found === null) {
      await table.containers.removeCommand(tenant, id, { commandId, now: clock.now() })
      continue
    }
    if (hasEnded(found.status)) {
      await publishCompletion(deps, found)
      continue
    }
    if (!lost.some(({ what }) => what.includes(commandId))) lost.push(lossOf(found))
    await cancelExecution(deps, { tenant, id: commandId })
  }
  await table.containers.noteLostCommands(tenant, id, lost)
  return true
}

const lossOf = (row: Execution): Lost => ({
  what: `command ${row.id}`,
  reason: `It ended when the container hibernated: ${commandSourceOf(row).argv.join(' ').slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}`,
})

/**
 * Reserves the sandbox of a container whose variables and files are saved, so that its processes can be kept too: from now on it gets no code before it is
 * resumed. Returns the snapshot for the container's row, which names the sandbox. Null: the container hibernates, because the account has no storage for the
 * processes or the sandbox is gone.
 */
async function reserveForSuspension(
  { table, clock, storage }: StepDeps,
  { tenant, sandboxId, memoryTier }: Container,
  snapshot: Snapshot,
): Promise<Snapshot | null> {
  if (sandboxId === null) return null
  if (!(await storage.take(tenant, TIERS[memoryTier].memoryBytes))) return null
  // The key of the snapshot is new for each suspension, and so is its last part.
  const id = snapshot.objectKey.slice(snapshot.objectKey.lastIndexOf('/') + 1)
  const change = { state: 'suspending', checkpoint: { id, bytes: 0, takenAt: 0 }, dueAt: clock.now() + SANDBOX_CHECK_MS } as const
  const moved = await table.sandboxes.move(sandboxId, { from: ['claimed'] }, change)
  return moved === null ? null : { ...snapshot, suspendedIn: sandboxId }
}

/** The container's row names the reserved sandbox or does not: its processes are kept, or it may get code again. A crash before this is repaired by the reconciler. */
async function settleSuspension({ table, queue, clock }: RunDeps, { tenant, id, sandboxId }: Container): Promise<void> {
  if (sandboxId === null) return
  const row = await table.containers.get(tenant, id)
  if (row !== null && row.sandboxId === sandboxId && isSuspended(row))
    await queue.send('placements', { v: 1, type: 'sandbox.suspend', sandboxId }, { group: tenant })
  else await table.sandboxes.move(sandboxId, { from: ['suspending'] }, { state: 'claimed', dueAt: clock.now() + SANDBOX_CHECK_MS })
}
