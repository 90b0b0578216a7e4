import { topicOf } from '../core/events.ts'
import { EXTENSION_EVENT, extensionData } from '../core/extension-event.ts'
import { newId } from '../core/ids.ts'
import { LEASE_MS } from '../core/lease.ts'
import { ExecutionMessage, TurnMessage, type QueueName } from '../core/messages.ts'
import { isFollowed, responseRemoval, type Response } from '../core/response.ts'
import { joinTrace } from '../core/trace.ts'
import type { ReconcilerDeps } from './deps.ts'
import { giveUpHibernation } from './reconciler/give-up-hibernation.ts'
import { endDeadLetter } from './run/end-without-result.ts'

/** `busy`: somebody works on it, so it is not dead yet. */
export type Buried = 'buried' | 'busy'

/**
 * What becomes of a message that failed every time: the job it names ends `failed` with the reason `dead_letter`, and a container that could
 * not be saved loses its sandbox. One that names neither is reported and dropped. A job that ended meanwhile stays as it is. Throws when the
 * job is busy.
 */
export function createDeadLetterStep(deps: ReconcilerDeps): (queue: QueueName, body: string) => Promise<void> {
  return async (queue, body) => {
    const message = parse(body)
    const execution = ExecutionMessage.safeParse(message)
    const turn = TurnMessage.safeParse(message)
    const buried = execution.success
      ? await buryWork(deps, execution.data)
      : turn.success
        ? await buryResponse(deps, turn.data.tenant, turn.data.responseId)
        : null
    if (buried === 'busy') throw new Error('Somebody works on it; look again later')
    const named = execution.data ?? turn.data
    deps.telemetry.emit({
      event: 'dead_letter',
      outcome: buried === null ? 'unknown_message' : 'job_failed',
      queue,
      tenant: named?.tenant ?? null,
      job:
        named === undefined
          ? null
          : 'responseId' in named
            ? named.responseId
            : 'executionId' in named
              ? named.executionId
              : named.containerId,
      bytes: body.length,
    })
  }
}

const buryWork = (deps: ReconcilerDeps, message: ExecutionMessage): Promise<Buried> =>
  message.type === 'container.hibernate' ? giveUpHibernation(deps, message) : buryExecution(deps, message.tenant, message.executionId)

/** Ends an execution that no step gets to its end, unless it has ended. */
export async function buryExecution(deps: ReconcilerDeps, tenant: string, id: string): Promise<Buried> {
  const taken = await deps.table.executions.take(tenant, id, leaseOf(deps))
  if (taken.kind === 'busy') return 'busy'
  if (taken.kind === 'taken') {
    joinTrace(taken.row.traceparent)
    await endDeadLetter(deps, taken.row)
  }
  return 'buried'
}

/** Ends a response that no step gets to its end, unless it has ended. */
export async function buryResponse(deps: ReconcilerDeps, tenant: string, id: string): Promise<Buried> {
  const lease = leaseOf(deps)
  const taken = await deps.table.responses.take(tenant, id, lease)
  if (taken.kind === 'busy') return 'busy'
  if (taken.kind !== 'taken') return 'buried'
  joinTrace(taken.row.traceparent)
  if (isFollowed(taken.row) && !(await sealResponse(deps, taken.row))) return 'busy'
  const error = { code: 'dead_letter', message: 'Every try to work on this response failed; the operator finds the cause in the logs.' }
  const end = { status: 'failed', error, completedAt: lease.now } as const
  await deps.table.responses.commit(tenant, id, taken.row.fence, end, { removeAt: responseRemoval(taken.row, lease.now) })
  deps.signals.notify(topicOf('response', id))
  return 'buried'
}

/**
 * Takes the next place of a response's event log, so that nothing of a worker that only stood still can follow its end. False when a successor writes
 * there.
 */
async function sealResponse({ table, clock }: ReconcilerDeps, { tenant, id, fence, tailEvents }: Response): Promise<boolean> {
  const owner = { kind: 'response', tenant, id } as const
  for (;;) {
    const last = await table.events.last(owner)
    if (last !== null && last.fence > fence) return false
    const firstSeq = (last?.events.at(-1)?.seq ?? -1) + 1
    // Readers may have the row's tail, so it keeps its numbers.
    const kept = tailEvents.filter((event) => event.seq >= firstSeq)
    const own = { seq: firstSeq + kept.length, at: clock.now(), type: EXTENSION_EVENT, data: extensionData('taken_over', {}) }
    if (await table.events.append(owner, { firstSeq, events: [...kept, own], fence, sourceSeq: null })) return true
  }
}

function leaseOf(deps: ReconcilerDeps): { readonly owner: string; readonly now: number; readonly expiresAt: number } {
  const now = deps.clock.now()
  return { owner: `${deps.workerId}/${newId('worker')}`, now, expiresAt: now + LEASE_MS }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
