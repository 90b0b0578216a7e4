import { topicOf } from '../../../model/events.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { workKindOf } from '../../../model/executions/work-kinds.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { SupervisorError, type SupervisorEnvelope } from '../../../ports/supervisor.ts'
import { watchRow } from '../../../jobs/watch-row.ts'
import type { RunDeps } from '../../deps.ts'
import { anySignal } from './any-signal.ts'
import { mapSupervisorError, SandboxLostError, SandboxUnreachableError } from './failures.ts'
import type { EventRecorder } from './record-events.ts'
import type { Work } from './sandbox-work.ts'

const RECONNECTS = 3
/** The supervisor ends an execution at its time limit. If it stays silent for this much longer, the execution counts as lost, milliseconds. */
const DEADLINE_GRACE_MS = 30_000
/** From the interrupt of a cancelled execution until its kernel is killed, milliseconds. */
const KILL_AFTER_MS = 2_000

interface Stream {
  readonly row: Execution
  readonly work: Work
  readonly recorder: EventRecorder
  /** Whether the sandbox has the code already. */
  readonly isSent: boolean
  readonly stop: AbortSignal
}

/** Sends the code, or attaches to it, and records its events to the end. Null when `stop` aborted first. */
export async function streamExecution(deps: RunDeps, stream: Stream): Promise<SupervisorEnvelope | null> {
  const cancellation = watchCancellation(deps, stream.row, stream.work)
  const deadline = deadlineOf(deps.clock.now(), stream.row)
  try {
    return await streamToEnd(stream, deadline.signal)
  } finally {
    cancellation.close()
    deadline.clear()
  }
}

/** A broken stream is resumed after the last event; the supervisor keeps all events. */
async function streamToEnd(
  { row, work, recorder, isSent: wasSent, stop }: Stream,
  deadline: AbortSignal,
): Promise<SupervisorEnvelope | null> {
  let isSent = wasSent
  let input: { close(): void } | null = null
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        const events = await work.open(recorder.lastSeq, anySignal(stop, deadline))
        isSent = true
        input ??= work.followInput()
        const envelope = await recorder.record(events)
        if (envelope !== null) return envelope
        throw new LinkError('broken', 'The event stream ended without a result')
      } catch (cause) {
        if (stop.aborted) return null
        if (deadline.aborted) throw new SandboxLostError('deadline', { cause })
        if (cause instanceof SupervisorError) throw mapSupervisorError(cause, { isSent, isAlone: workKindOf(row).place === 'queue' })
        if (!(cause instanceof LinkError)) throw cause
        if (cause.kind === 'broken') isSent = true
        if (cause.kind === 'refused')
          throw isSent
            ? new SandboxLostError('sandbox_lost', { cause })
            : new SandboxUnreachableError('It refused the connection', { cause })
        if (attempt >= RECONNECTS) throw new SandboxLostError('sandbox_lost', { cause })
      }
    }
  } finally {
    input?.close()
  }
}

/** Interrupts the code when the client cancels; a failed interrupt is repeated. */
const watchCancellation = ({ signals, table }: Pick<RunDeps, 'signals' | 'table'>, row: Execution, work: Work): { close(): void } =>
  watchRow<Execution>({
    subscription: signals.subscribe(topicOf('execution', row.id)),
    read: () => table.executions.poll(row.tenant, row.id),
    onRow: async (present) => {
      if (present === null || present.cancelRequestedAt === null) return false
      await work.stop(KILL_AFTER_MS)
      return true
    },
  })

/**
 * Aborts when the supervisor has not ended the execution after its time limit and a grace period. A late step also waits for the grace period, because
 * the end may be available to read. `clear` stops the timer, which would otherwise outlive the execution by minutes.
 */
function deadlineOf(now: number, row: Execution): { readonly signal: AbortSignal; clear(): void } {
  const limitMs = (row.startedAt ?? now) + (row.pauses?.ms ?? 0) + row.timeoutSeconds * 1000 - now
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), Math.max(0, limitMs) + DEADLINE_GRACE_MS)
  return { signal: over.signal, clear: () => clearTimeout(timer) }
}
