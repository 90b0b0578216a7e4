import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import { isAsleep, type Container } from '../../core/containers/container.ts'
import { topicOf, type EventOwner, type ExecutionEventPayload } from '../../core/events.ts'
import type { Execution, Lost } from '../../core/executions/execution.ts'
import { OutputAssembler } from '../../core/executions/output-assembler.ts'
import { LinkError } from '../../core/ports/sandbox-link.ts'
import { SupervisorError, type ExecuteRequest, type SupervisorEnvelope } from '../../core/ports/supervisor.ts'
import type { Patch } from '../../core/ports/leased-store.ts'
import type { SandboxSession } from '../../core/sandboxes/sandbox.ts'
import { executionLimitsOf, DEFAULT_LIMITS, type ExecutionLimits } from '../../core/tenants/tenant-limits.ts'
import { currentTrace } from '../../core/trace.ts'
import { EventLogWriter } from '../../jobs/event-log-writer.ts'
import { fenceEventLog } from '../../jobs/fence-event-log.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import { startLeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { watchRow } from '../../jobs/watch-row.ts'
import type { RunDeps, StepDeps } from '../deps.ts'
import { mergeText } from './merge-text.ts'
import { cellsOf } from './cells-of.ts'
import { collectFiles } from './collect-files.ts'
import { endExecution, MAX_INLINE_JSON_BYTES } from './end-execution.ts'
import { truncateLosses } from './truncate-losses.ts'
import { anySignal } from './any-signal.ts'
import { followEvents } from './follow.ts'
import { endOf, lostIn } from './outcome.ts'
import { resultOf } from './result-of.ts'
import { needsSync, syncFiles } from './sync-files.ts'
import { noteAwake, restoreVariables } from './restore-variables.ts'
import { watchSandbox } from './watch-sandbox.ts'

const RECONNECTS = 3
/** The supervisor ends an execution at its time limit by itself; one that is silent this much longer is given up. */
const DEADLINE_GRACE_MS = 30_000

/** The sandbox took no byte of the execution: nothing happened there. */
export class SandboxUnreachable extends Error {}

/** The sandbox went away, or fell silent, after it had the code. */
export class SandboxLost extends Error {
  readonly reason: 'sandbox_lost' | 'deadline'
  constructor(reason: SandboxLost['reason'], options: { readonly cause?: unknown } = {}) {
    super(`The sandbox is lost: ${reason}`, options)
    this.reason = reason
  }
}

/**
 * `fresh`: the files are brought in and the row becomes `running` first. `marked`: the row says `running` already. `resumed`: another worker
 * handed the code over and this one reads on.
 */
export type RunMode = 'fresh' | 'marked' | 'resumed'

/**
 * Hands the code to the sandbox, or attaches to it, follows it to its end and commits the result. After the step's budget it gives the lease
 * back and sends a fresh message: the supervisor keeps the events. Throws SandboxUnreachable, SandboxLost or LeaseLost.
 */
export async function runInSandbox(
  deps: StepDeps,
  taken: Execution,
  container: Container,
  session: SandboxSession,
  options: { readonly mode: RunMode },
): Promise<void> {
  const handOver = new AbortController()
  const lease = startLeaseHeartbeat({
    id: taken.id,
    clock: deps.clock,
    renew: async (expiresAt) =>
      (await deps.table.executions.commit(taken.tenant, taken.id, taken.fence, {}, { extendTo: expiresAt })) !== null,
  })
  const silent = new AbortController()
  const watch = watchSandbox(
    (signal) => deps.supervisor.health(session.address, 0, signal),
    () => silent.abort(new SandboxLost('sandbox_lost')),
  )
  const stop = anySignal(lease.signal, silent.signal)
  const budget = setTimeout(() => handOver.abort(), deps.stepBudgetMs)
  let mayHaveRun = options.mode !== 'fresh'
  let log: EventLogWriter<ExecutionEventPayload> | null = null
  try {
    const row = options.mode === 'fresh' ? await prepare(deps, taken, container, session, stop) : taken
    mayHaveRun = true
    // Before the code is handed over: from then on the kernel may be newer than its snapshot.
    if (isAsleep(container)) await noteAwake(deps, container)
    const opened = await openLog(deps, row, options.mode === 'resumed', () => lease.lose())
    log = opened.log
    const source = await cellsOf(deps.objects, row.source)
    const tenantLimits = await deps.limits.of(row.tenant)
    const limits = executionLimitsOf(tenantLimits, container.limits)
    const assembler = new OutputAssembler(source.indexes)
    const traceId = currentTrace()?.traceId
    const request: ExecuteRequest = {
      cells: source.cells,
      onError: row.onError,
      storeHistory: row.storeHistory,
      timeoutMs: Math.min(row.timeoutSeconds, tenantLimits.timeoutSeconds) * 1000,
      ...belowUsual(limits),
      ...(traceId === undefined ? {} : { traceId }),
    }
    const cancel = watchCancellation(deps, row, session)
    const deadline = deadlineOf(deps, row)
    const progress = { ...opened, assembler, wasHandedOver: options.mode === 'resumed' }
    let envelope: SupervisorEnvelope | null
    try {
      envelope = await follow(deps, row, session, request, progress, anySignal(stop, handOver.signal), deadline.signal)
    } finally {
      cancel.close()
      deadline.clear()
    }
    stop.throwIfAborted()
    if (envelope === null) return await passOn(deps, row, log)
    await commitEnd(deps, row, container, session, assembler, log, envelope, limits, stop)
  } catch (cause) {
    lease.signal.throwIfAborted()
    if (silent.signal.aborted) throw mayHaveRun ? silent.signal.reason : new SandboxUnreachable('It stopped answering', { cause })
    throw cause
  } finally {
    clearTimeout(budget)
    watch.stop()
    log?.close()
    lease.stop()
  }
}

/** What makes an execution `running` in this sandbox, and says what earlier sandboxes took with them. */
export function startPatch(deps: RunDeps, container: Container, session: SandboxSession, lost: readonly Lost[]): Patch<Execution> {
  const variables = container.stateLost === null ? [] : [{ what: 'variables', reason: container.stateLost }]
  return {
    status: 'running',
    startedAt: deps.clock.now(),
    sandboxId: session.sandboxId,
    lostBefore: [...variables, ...truncateLosses(lost)],
  }
}

async function prepare(
  deps: RunDeps,
  taken: Execution,
  container: Container,
  session: SandboxSession,
  signal: AbortSignal,
): Promise<Execution> {
  const lost: Lost[] = []
  try {
    if (needsSync(container)) lost.push(...(await syncFiles(deps, session, container, signal)))
    if (isAsleep(container)) lost.push(...(await restoreVariables(deps, session, container, signal)))
  } catch (cause) {
    if (cause instanceof LinkError || (cause instanceof SupervisorError && cause.code === 'wrong_sandbox')) {
      throw new SandboxUnreachable('The files or the variables could not be brought in', { cause })
    }
    throw cause
  }
  const row = await deps.table.executions.commit(taken.tenant, taken.id, taken.fence, startPatch(deps, container, session, lost))
  if (row === null) throw new LeaseLostError(taken.id)
  return row
}

/** Interrupts the code when the caller cancels; an interrupt that fails is sent again. */
const watchCancellation = (deps: RunDeps, row: Execution, session: SandboxSession): { close(): void } =>
  watchRow<Execution>({
    subscription: deps.signals.subscribe(topicOf('execution', row.id)),
    read: () => deps.table.executions.get(row.tenant, row.id),
    onRow: async (present) => {
      if (present === null || present.cancelRequestedAt === null) return false
      await deps.supervisor.interrupt(session, row.id, 2000)
      return true
    },
  })

const fenceRunning = (deps: RunDeps, row: Execution) => {
  const owner = { kind: 'execution', tenant: row.tenant, id: row.id } as const
  const payload = { type: 'status', status: 'running' } as const
  return fenceEventLog<ExecutionEventPayload>({ events: deps.table.events, clock: deps.clock }, owner, row.fence, { payload })
}

async function openLog(
  deps: RunDeps,
  row: Execution,
  isResumed: boolean,
  lose: () => void,
): Promise<{ readonly log: EventLogWriter<ExecutionEventPayload>; readonly storedThrough: number }> {
  const owner: EventOwner = { kind: 'execution', tenant: row.tenant, id: row.id }
  const last = isResumed ? await fenceRunning(deps, row) : null
  const log = new EventLogWriter({
    fence: row.fence,
    // Number 0 is the status `queued`, which readers derive from the row.
    nextSeq: (last?.events.at(-1)?.seq ?? 0) + 1,
    sourceSeq: last?.sourceSeq ?? null,
    now: () => deps.clock.now(),
    merge: mergeText,
    log: {
      append: (batch) => deps.table.events.append(owner, batch),
      written: () => deps.signals.notify(topicOf('execution', row.id)),
      broken: lose,
    },
  })
  if (last === null) log.emit({ type: 'status', status: 'running' }, 'deferred')
  return { log, storedThrough: last?.sourceSeq ?? -1 }
}

interface Progress {
  readonly assembler: OutputAssembler
  readonly log: EventLogWriter<ExecutionEventPayload>
  readonly storedThrough: number
  readonly wasHandedOver: boolean
}

/** Only what is less than everybody has: the rest costs the supervisor nothing to watch. */
const belowUsual = ({ cpuSeconds, outputBytes, displays }: ExecutionLimits): Partial<ExecuteRequest> => ({
  ...(cpuSeconds < DEFAULT_LIMITS.cpuSeconds && { cpuMs: cpuSeconds * 1000 }),
  ...(outputBytes < DEFAULT_LIMITS.outputBytes && { maxTotalBytes: outputBytes }),
  ...(displays < DEFAULT_LIMITS.displays && { maxDisplays: displays }),
})

/** Null when the step's budget ran out first. A broken stream is picked up again: the supervisor keeps its events. */
async function follow(
  deps: RunDeps,
  row: Execution,
  session: SandboxSession,
  request: ExecuteRequest,
  progress: Progress,
  signal: AbortSignal,
  silence: AbortSignal,
): Promise<SupervisorEnvelope | null> {
  let seen = -1
  let { wasHandedOver } = progress
  for (let attempt = 0; ; attempt++) {
    try {
      const stream = await deps.supervisor.execute(session, row.id, request, seen, anySignal(signal, silence))
      wasHandedOver = true
      const noted = (async function* () {
        for await (const event of stream) {
          seen = event.seq
          yield event
        }
      })()
      const envelope = await followEvents(deps, row, noted, progress.assembler, progress.log, progress.storedThrough, session.privateKey)
      if (envelope !== null) return envelope
      throw new LinkError('broken', 'The event stream ended without a result')
    } catch (cause) {
      if (signal.aborted) return null
      if (silence.aborted) throw new SandboxLost('deadline', { cause })
      if (cause instanceof SupervisorError) throw meaningOf(cause, wasHandedOver)
      if (!(cause instanceof LinkError)) throw cause
      if (cause.kind === 'broken') wasHandedOver = true
      if (cause.kind === 'refused')
        throw wasHandedOver ? new SandboxLost('sandbox_lost', { cause }) : new SandboxUnreachable('It refused the connection', { cause })
      if (attempt >= RECONNECTS) throw new SandboxLost('sandbox_lost', { cause })
    }
  }
}

/** What a refusal by the supervisor means for the execution; most faults are worth another try by a later step. */
function meaningOf(refusal: SupervisorError, wasHandedOver: boolean): Error {
  switch (refusal.code) {
    case 'wrong_sandbox':
    case 'conflict':
    case 'not_found':
      return wasHandedOver
        ? new SandboxLost('sandbox_lost', { cause: refusal })
        : new SandboxUnreachable('It does not take this execution', { cause: refusal })
    case 'protocol':
    case 'bad_request':
    case 'too_large':
    case 'disk_full':
      return new SandboxLost('sandbox_lost', { cause: refusal })
    case 'unauthorized':
    case 'unavailable':
    case 'internal':
      return refusal
  }
}

/**
 * Fires when the supervisor should long have ended the execution by itself; who comes late gives it that grace too, because the end may lie there to be read.
 * Its timer must not outlive the execution by the minutes it has left.
 */
function deadlineOf(deps: RunDeps, row: Execution): { readonly signal: AbortSignal; clear(): void } {
  const now = deps.clock.now()
  const limitMs = (row.startedAt ?? now) + row.timeoutSeconds * 1000 - now
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), Math.max(0, limitMs) + DEADLINE_GRACE_MS)
  return { signal: over.signal, clear: () => clearTimeout(timer) }
}

async function passOn(deps: RunDeps, row: Execution, log: EventLogWriter<ExecutionEventPayload>): Promise<void> {
  await log.drain()
  const comesOn = { stepsFailSince: null }
  await deps.table.executions.commit(row.tenant, row.id, row.fence, comesOn, {
    release: true,
    dueAt: deps.clock.now() + RECONCILE_AFTER_MS,
  })
  await notifyExecution(deps.queue, row.tenant, row.containerId, row.id)
}

async function commitEnd(
  deps: RunDeps,
  row: Execution,
  container: Container,
  session: SandboxSession,
  assembler: OutputAssembler,
  log: EventLogWriter<ExecutionEventPayload>,
  envelope: SupervisorEnvelope,
  limits: ExecutionLimits,
  signal: AbortSignal,
): Promise<void> {
  const { filesPerExecution: maxFiles } = limits
  const collected = await collectFiles(deps, session, row, { generation: container.generation, maxFiles }, envelope, signal)
  const end = endOf(envelope.outcome)
  const lost = [...row.lostBefore, ...lostIn(envelope), ...collected.lost]
  for (const file of collected.files) log.emit({ type: 'file', file }, 'paced')
  for (const { what, reason } of lost) log.emit({ type: 'lost', what, reason }, 'paced')
  log.emit({ type: 'done', status: end.status, reason: end.reason }, 'paced')
  if (log.waitingBytes > MAX_INLINE_JSON_BYTES / 2) await log.drain()
  const tailEvents = await log.removeTail()
  signal.throwIfAborted()
  // Before the end is seen: whoever runs code next must not be told again. The row itself still says it, should this step die here.
  if (row.lostBefore.length > 0) await deps.table.containers.stateLossTold(row.tenant, row.containerId, session.sandboxId)
  const ended = await endExecution(deps, row, {
    ...end,
    result: resultOf(deps, row, container, assembler, envelope, collected.files, lost),
    tailEvents,
    sandboxTraceId: envelope.traceId ?? null,
  })
  if (ended === null) throw new LeaseLostError(row.id)
}
