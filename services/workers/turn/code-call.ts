import { ServiceError } from '../../model/errors.ts'
import { topicOf } from '../../model/events.ts'
import { acceptExecution } from '../../operations/executions/accept-execution.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { storeSource } from '../../operations/executions/store-source.ts'
import { CodeOutputReader, isCodeOutput } from '../../operations/executions/code-output.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { derivedId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { withInlineImages } from '../../operations/turns/inline-images.ts'
import { hasEventStream, hasExtensionEvents, type PendingCall } from '../../model/responses/response.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import type { TurnDeps } from './deps.ts'
import { callStatusOf, isFailure } from './outcome/call-status.ts'
import { failedCall } from './outcome/failed-call.ts'
import { buildCallOutcome } from './outcome/call-outcome.ts'
import { autoContainerId, createAutoContainer } from './container-context.ts'
import type { TurnLog } from './turn-log.ts'
import type { TurnChange, TurnEvent, TurnView } from './turn-state.ts'
import { callCompleted, callInterpreting, type CodeItem } from '../../model/responses/items/code-interpreter-call.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'

/** A worker waits this long for code that it submitted, milliseconds. Most code ends within this time, and the way through a queue takes longer. */
const WAIT_MS = 1_000
/** Assumed maximum clock difference of two workers, milliseconds. */
const SKEW_MS = 200
/** Polling interval, in case a signal is lost, milliseconds. */
const POLL_MS = 250

/** Code that cannot run, with a sentence for the model. */
interface Rejection {
  readonly reason: string
  readonly message: string
}

/** Records that the code of the call at `index` is to run, and creates the container of `auto` with the first call. */
export async function startCode(deps: TurnDeps, { row, state }: TurnView, index: number): Promise<TurnChange> {
  const item = codeItemAt(state.items, index)
  const bytes = Buffer.byteLength(item.code)
  if (bytes > LIMITS.maxCodeBytes) {
    const message = `The code has ${bytes} bytes; the maximum is ${LIMITS.maxCodeBytes}. Write less code, and put data into files.`
    return rejected(state, index, { reason: 'code_too_big', message })
  }
  const { containerId } = item
  if (state.containerId === null && containerId === autoContainerId(row)) await createAutoContainer(deps, row)
  const executionId = derivedId('execution', row.createdAt + index, `${row.id}:${index}`)
  return {
    state: { pending: { executionId, containerId, itemIndex: index }, containerId },
    code: { kind: 'missing' },
    items: [[index, { ...item, status: 'interpreting' }]],
    events: [{ payload: callInterpreting(index, item), priority: 'now' }],
  }
}

/**
 * Accepts the execution of the pending call and waits for its end for a limited time. The call must be committed before, so that a repetition after a
 * crash accepts the same id with the same code.
 */
export async function submitCode(deps: TurnDeps, view: TurnView, signal: AbortSignal): Promise<TurnChange> {
  const { row } = view
  const { executionId, itemIndex } = pendingOf(view)
  const { signals, clock, table, executionWaitMs = WAIT_MS } = deps
  const until = clock.now() + executionWaitMs
  const read = (): Promise<Execution | null> => table.executions.get(row.tenant, executionId)
  // Before the execution is accepted, so that its end is not missed.
  const subscription = signals.subscribe(topicOf('execution', executionId))
  try {
    const rejection = await acceptPending(deps, view, executionWaitMs === 0 ? null : until)
    if (rejection === null && executionWaitMs === 0) return { code: { kind: 'running' } }
    // An earlier worker may have submitted it; then its result counts.
    const known = rejection === null ? null : await read()
    if (rejection !== null && known === null) return rejected(view.state, itemIndex, rejection)
    const limits = { now: () => clock.now(), deadline: until + SKEW_MS, signal, pollMs: POLL_MS }
    const isDone = (row: Execution | null): boolean => row !== null && hasEnded(row.status)
    const execution = await waitForRow<Execution, null>(subscription, read, isDone, limits, known)
    return { code: execution !== null && hasEnded(execution.status) ? { kind: 'ended', execution } : { kind: 'running' } }
  } finally {
    subscription.close()
  }
}

/** Records the result of the pending call. */
export async function collectCode(deps: TurnDeps, view: TurnView, log: TurnLog, execution: Execution): Promise<TurnChange> {
  const index = pendingOf(view).itemIndex
  const output = await outputEvents(deps, view, log, execution)
  const item: CodeItem = {
    ...codeItemAt(view.state.items, index),
    status: callStatusOf(execution),
    outcome: await buildCallOutcome(deps, execution, view.row.request),
  }
  const rendered = hasEventStream(view.row) ? await withImages(deps, view, index, item) : item
  const completed: TurnEvent[] = item.status === 'completed' ? [{ payload: callCompleted(index, item), priority: 'soon' }] : []
  return {
    state: { pending: null, consecutiveFailures: isFailure(execution) ? view.state.consecutiveFailures + 1 : 0 },
    events: [...output, ...completed],
    finished: [[index, item, rendered]],
  }
}

/** The item in its event, with its images as data URLs. */
async function withImages({ objects }: TurnDeps, { row, state }: TurnView, index: number, item: CodeItem): Promise<ResponseItem> {
  const items = await withInlineImages(objects, state.items.with(index, item), row.request.include, index)
  return items[index] ?? item
}

/**
 * Closes the pending call of a turn that ends: records the result of code that has ended, as its events may already be in the log, and cancels code
 * that has not.
 */
export async function closeCode(deps: TurnDeps, view: TurnView, log: TurnLog): Promise<TurnChange> {
  const { tenant } = view.row
  const { executionId } = pendingOf(view)
  const present = await deps.table.executions.get(tenant, executionId)
  if (present !== null && hasEnded(present.status)) return collectCode(deps, view, log, present)
  // A step that committed this call may still accept it. Accepted and cancelled now, it cannot run later.
  if (present === null) await acceptPending(deps, view, null)
  await cancelExecution(deps, { tenant, id: executionId })
  return { state: { pending: null }, events: await outputEvents(deps, view, log, present) }
}

/** Null when the execution was accepted. Idempotent. */
async function acceptPending(deps: TurnDeps, view: TurnView, awaitedUntil: number | null): Promise<Rejection | null> {
  const { row, state } = view
  const { executionId, containerId, itemIndex } = pendingOf(view)
  try {
    const execution = {
      tenant: row.tenant,
      subject: row.subject,
      id: executionId,
      containerId,
      responseId: row.id,
      source: await storeSource(deps, {
        tenant: row.tenant,
        containerId,
        source: { kind: 'code', code: codeItemAt(state.items, itemIndex).code },
      }),
      timeoutSeconds: LIMITS.defaultTimeoutSeconds,
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

/** Output of the pending code that is not in the log yet. A response without extension events has it in its logs only. */
async function outputEvents(deps: TurnDeps, view: TurnView, log: TurnLog, execution: Execution | null): Promise<readonly TurnEvent[]> {
  const { row, state } = view
  const pending = pendingOf(view)
  if (!hasExtensionEvents(row)) return []
  const reader = new CodeOutputReader(deps.table.events, row.tenant, pending, codeItemAt(state.items, pending.itemIndex).id)
  const printed = await reader.next(execution)
  const logged = log.uncommitted.filter((event) => isCodeOutput(event, pending.itemIndex)).length
  return printed.slice(logged).map(({ type, data }) => ({ payload: { type, data }, priority: 'paced' }))
}

/** Records for the model why its code did not run. */
const rejected = (state: TurnView['state'], index: number, { reason, message }: Rejection): TurnChange => ({
  state: { pending: null, consecutiveFailures: state.consecutiveFailures + 1 },
  finished: [[index, failedCall(codeItemAt(state.items, index), reason, message)]],
})

function pendingOf({ state }: TurnView): PendingCall {
  if (state.pending === null) throw new Error('The turn has no pending call')
  return state.pending
}

function codeItemAt(items: readonly ResponseItem[], index: number): CodeItem {
  const item = items[index]
  if (item?.type !== 'code_interpreter_call') throw new Error(`The item at ${index} is no code_interpreter_call`)
  return item
}
