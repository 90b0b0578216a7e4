import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../../model/errors.ts'
import { topicOf } from '../../model/events.ts'
import { acceptExecution } from '../../operations/executions/accept-execution.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { storeSource } from '../../operations/executions/store-source.ts'
import { JobOutputReader, showsOutput } from '../../operations/executions/job-output.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { derivedId } from '../../model/ids.ts'
import type { PendingCall, ResponseRecord } from '../../model/responses/response.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'
import type { ContainerJob, Rejection } from '../../ports/tool.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import type { TurnDeps } from './deps.ts'
import { codeCall } from './code-call.ts'
import type { ContainerCall, JobEnd } from './container-call.ts'
import { autoContainerId, createAutoContainer } from './container-context.ts'
import { shellCommands } from './shell-call.ts'
import type { TurnLog } from './turn-log.ts'
import type { TurnChange, TurnEvent, TurnView } from './turn-state.ts'

/** A turn and what its log has of a predecessor. */
type LoggedView = TurnView & { readonly log: Pick<TurnLog, 'uncommitted'> }

/** Every item type whose calls run in the container. */
const CONTAINER_CALLS: readonly ContainerCall<ResponseItem>[] = [codeCall, shellCommands]

/** A worker waits this long for a job that it submitted, milliseconds. Most jobs end within this time, and the way through a queue takes longer. */
const WAIT_MS = 1_000
/** Assumed maximum clock difference of two workers, milliseconds. */
const SKEW_MS = 200
/** Polling interval, in case a signal is lost, milliseconds. */
const POLL_MS = 250

/** Records that the first job of the call at `index` is to run, and creates the container of `auto` with the first call. */
export async function startCall(deps: TurnDeps, view: TurnView, index: number): Promise<TurnChange> {
  const { row, state } = view
  const { call, item, jobs } = callAt(view, index)
  if ('reason' in jobs) return call.reject(view, { index, item }, jobs)
  const containerId = ('containerId' in item ? item.containerId : null) ?? autoContainerId(row)
  if (state.containerId === null && containerId === autoContainerId(row)) await createAutoContainer(deps, row)
  const { change, outputIndex } = call.begin(view, { index, item })
  const pending = pendingOfJob(row, { containerId, itemIndex: index, outputIndex, jobIndex: 0 }, jobs)
  return { ...change, state: { ...change.state, pending, containerId }, job: { kind: 'missing' } }
}

/**
 * Accepts the pending job and waits for its end for a limited time. The job must be committed before, so that a repetition after a crash accepts
 * the same id with the same source.
 */
export async function submitJob(
  deps: TurnDeps,
  view: LoggedView,
  limits: { readonly signal: AbortSignal; readonly endsAt: number },
): Promise<TurnChange> {
  const { tenant } = view.row
  const { executionId } = pendingOf(view)
  const { signals, clock, table } = deps
  const now = clock.now()
  const waitMs = Math.min(deps.executionWaitMs ?? WAIT_MS, Math.max(0, limits.endsAt - now))
  const until = now + waitMs
  // Before the job is accepted, so that its end is not missed.
  const subscription = signals.subscribe(topicOf('execution', executionId))
  try {
    const rejection = await acceptPending(deps, view, waitMs === 0 ? null : until)
    if (rejection === null && waitMs === 0) return { job: { kind: 'running' } }
    // An earlier worker may have submitted it; then its result counts.
    const known = rejection === null ? null : await table.executions.get(tenant, executionId)
    if (rejection !== null && known === null) return await recordEnd(deps, view, { rejection })
    const execution = await waitForRow<Execution, null>(subscription, {
      read: () => table.executions.poll(tenant, executionId),
      isDone: (row) => row !== null && hasEnded(row.status),
      first: known,
      now: () => clock.now(),
      deadline: until + SKEW_MS,
      signal: limits.signal,
      pollMs: POLL_MS,
    })
    return { job: execution !== null && hasEnded(execution.status) ? { kind: 'ended', execution } : { kind: 'running' } }
  } finally {
    subscription.close()
  }
}

/** Records the result of the pending job, and that the next job of its call is to run. */
export const collectJob = (deps: TurnDeps, view: LoggedView, execution: Execution): Promise<TurnChange> =>
  recordEnd(deps, view, { execution })

/**
 * Closes the pending call of a turn that ends: records the result of a job that has ended, as its events may already be in the log, and cancels
 * one that has not.
 */
export async function closeCall(deps: TurnDeps, view: LoggedView): Promise<TurnChange> {
  const { tenant } = view.row
  const { executionId } = pendingOf(view)
  const present = await deps.table.executions.get(tenant, executionId)
  if (present !== null && hasEnded(present.status)) {
    const change = await collectJob(deps, view, present)
    return { ...change, state: { ...change.state, pending: null } }
  }
  // A step that committed this job may still accept it. Accepted and cancelled now, it cannot run later.
  if (present === null) await acceptPending(deps, view, null)
  await cancelExecution(deps, { tenant, id: executionId })
  return { state: { pending: null }, events: await outputEvents(deps, view, present) }
}

async function recordEnd(deps: TurnDeps, view: LoggedView, end: JobEnd): Promise<TurnChange> {
  const pending = pendingOf(view)
  const { call, jobs } = callAt(view, pending.itemIndex)
  const isLast = 'reason' in jobs || pending.jobIndex + 1 >= jobs.length
  const printed = 'execution' in end ? await outputEvents(deps, view, end.execution) : []
  const change = await call.record(deps, view, { ...end, pending, isLast })
  const next = isLast ? null : pendingOfJob(view.row, { ...pending, jobIndex: pending.jobIndex + 1 }, jobs)
  return {
    ...change,
    state: { ...change.state, pending: next },
    events: [...printed, ...(change.events ?? [])],
    job: { kind: 'missing' },
  }
}

/** Null when the job was accepted. Idempotent. */
async function acceptPending(deps: TurnDeps, view: TurnView, awaitedUntil: number | null): Promise<Rejection | null> {
  const { row } = view
  const { executionId, containerId, itemIndex, jobIndex } = pendingOf(view)
  const { jobs } = callAt(view, itemIndex)
  const job = 'reason' in jobs ? jobs : jobs[jobIndex]
  if (job === undefined) throw new Error(`The call at ${itemIndex} has no job ${jobIndex}`)
  if ('reason' in job) return job
  try {
    const execution = {
      tenant: row.tenant,
      subject: row.subject,
      id: executionId,
      containerId,
      responseId: row.id,
      source: await storeSource(deps, { tenant: row.tenant, containerId, source: job.source }),
      timeoutSeconds: job.timeoutSeconds,
      onError: 'stop' as const,
      storeHistory: true,
      metadata: {},
      publicUrl: row.publicUrl,
      ...(awaitedUntil === null ? {} : { awaitedUntil }),
    }
    await acceptExecution(deps, execution, deps.clock.now())
    return null
  } catch (cause) {
    if (cause instanceof ServiceError) return { reason: cause.code, message: cause.message }
    throw cause
  }
}

/** What the pending job printed and the log does not have yet. */
async function outputEvents(deps: TurnDeps, view: LoggedView, execution: Execution | null): Promise<readonly TurnEvent[]> {
  const { row, state, log } = view
  const pending = pendingOf(view)
  const item = state.items[pending.outputIndex]
  if (item === undefined || !showsOutput(row, pending)) return []
  const printed = await new JobOutputReader(deps.table.events, { tenant: row.tenant, call: pending, item }).next(execution)
  // A predecessor that crashed wrote the same events in the same order.
  let logged = 0
  for (const { type, data } of log.uncommitted) {
    const next = printed[logged]
    if (next !== undefined && type === next.type && isDeepStrictEqual(data, next.data)) logged += 1
  }
  return printed.slice(logged).map(({ type, data }) => ({ payload: { type, data }, priority: 'paced' }))
}

/** The id of a job follows from its call, so a repetition runs nothing twice. */
function pendingOfJob(
  row: ResponseRecord,
  place: Omit<PendingCall, 'executionId'>,
  jobs: readonly (ContainerJob | Rejection)[],
): PendingCall {
  const { containerId, itemIndex, outputIndex, jobIndex } = place
  const job = jobs[jobIndex]
  const kind = job !== undefined && 'source' in job && job.source.kind === 'code' ? 'execution' : 'command'
  const executionId = derivedId(kind, row.createdAt + itemIndex, `${row.id}:${itemIndex}:${jobIndex}`)
  return { executionId, containerId, itemIndex, outputIndex, jobIndex }
}

function callAt({ row, state: { items } }: TurnView, index: number) {
  const item = items[index]
  const call = CONTAINER_CALLS.find(({ type }) => type === item?.type)
  if (item === undefined || call === undefined) throw new Error(`The item at ${index} is no call that runs in a container`)
  const tool = call.toolOf(row.request)
  if (tool.answeredBy !== 'container') throw new Error(`Calls of ${tool.name} do not run in a container`)
  return { call, item, jobs: tool.jobsOf(call.argumentsOf(item)) }
}

function pendingOf({ state }: TurnView): PendingCall {
  if (state.pending === null) throw new Error('The turn has no pending job')
  return state.pending
}
