import { acceptExecution, NUDGE_AFTER_MS } from '../../core/accept-execution.ts'
import { nudgeResponse } from '../../core/accept-response.ts'
import { ServiceError } from '../../core/errors.ts'
import { topicOf } from '../../core/events.ts'
import type { ExecutionSource } from '../../core/execution.ts'
import { derivedId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { PendingCall, Response } from '../../core/response.ts'
import type { TurnDeps } from '../deps.ts'
import { awaitEnd, type AwaitedEnd } from './await-end.ts'
import { callInterpreting, type CodeItem } from '../../core/item-events.ts'
import { makeContainer, ownContainerId } from './find-container.ts'
import { RowLost } from './hold-row.ts'
import type { Turn } from './turn.ts'

/** Source up to this many bytes rides in the execution's row. */
const MAX_INLINE_CODE = 128 * 1024

/** Events up to this many bytes of JSON ride in a row that is worked on: each of its writes costs what the whole row has. */
export const MAX_KEPT_BYTES = 4 * 1024

/** What came of handing code over: it was accepted, or it was refused with a sentence for the model. */
export type HandedOver = { readonly kind: 'accepted'; readonly end: AwaitedEnd } | Refused
export type Refused = { readonly kind: 'refused'; readonly reason: string; readonly why: string }

/**
 * Notes in the row that this call's code is to run, gives the row back, then accepts the execution. The row is given back first, so that
 * the message that tells of the execution's end never finds it held; and it is noted first, so that a crash between repeats the
 * acceptance with the same id and the same code.
 */
export async function startCall(deps: TurnDeps, turn: Turn, index: number): Promise<HandedOver> {
  const { row } = turn
  const item = turn.items[index] as CodeItem
  const bytes = Buffer.byteLength(item.code)
  if (bytes > LIMITS.maxCodeBytes)
    return {
      kind: 'refused',
      reason: 'code_too_big',
      why: `The code has ${bytes} bytes; at most ${LIMITS.maxCodeBytes} can be run. Write less, and put data into files.`,
    }
  turn.items[index] = { ...item, status: 'interpreting' }
  turn.pending = {
    executionId: derivedId('execution', row.createdAt + index, `${row.id}:${index}`),
    containerId: item.containerId,
    itemIndex: index,
  }
  turn.emit(callInterpreting(index, item), 'now')
  const isOwn = turn.containerId === null && item.containerId === ownContainerId(row)
  turn.containerId = item.containerId
  if (isOwn) await makeContainer(deps, row)
  return handOver(deps, turn)
}

/** Gives the row back with all that the turn has come to, so that its successor need not read the log. Null when it was lost. */
export async function giveBack(deps: TurnDeps, turn: Turn, dueAfterMs: number): Promise<Response | null> {
  const { tenant, id, fence } = turn.row
  await turn.tail(MAX_KEPT_BYTES)
  const tailEvents = await turn.writer.takeTail()
  const patch = { ...(await turn.snapshot().patch()), tailEvents, ...(turn.isSealed ? { accountedFence: fence } : {}) }
  const released = await deps.table.responses.commit(tenant, id, fence, patch, { release: true, dueAt: deps.clock.now() + dueAfterMs })
  if (tailEvents.length > 0) deps.signals.notify(topicOf('response', id))
  return released
}

/** Gives the row back and accepts what is pending in it. */
export async function handOver(deps: TurnDeps, turn: Turn): Promise<HandedOver> {
  const { row, pending } = turn
  if (pending === null) throw new Error('Nothing is pending')
  const released = await giveBack(deps, turn, NUDGE_AFTER_MS)
  if (released === null) throw new RowLost(row.id)
  const end = awaitEnd(deps, row.tenant, pending)
  try {
    const refused = await acceptPending(deps, row, pending, codeOf(turn, pending), end.until)
    // Whoever cancelled meanwhile found the row held and no code to interrupt.
    if (released.cancelRequestedAt !== null) await nudgeResponse(deps.queue, row.tenant, row.id)
    if (refused === null) return { kind: 'accepted', end }
    end.close()
    return refused
  } catch (cause) {
    end.close()
    throw cause
  }
}

/** Null when it was accepted. Repeating it accepts nothing twice. */
export async function acceptPending(
  deps: TurnDeps,
  row: Response,
  pending: PendingCall,
  code: string,
  awaitedUntil: number | null,
): Promise<Refused | null> {
  try {
    await acceptExecution(
      deps,
      {
        tenant: row.tenant,
        subject: row.subject,
        id: pending.executionId,
        containerId: pending.containerId,
        responseId: row.id,
        source: await sourceOf(deps, row.tenant, pending.containerId, code),
        timeoutSeconds: LIMITS.defaultTimeoutSeconds,
        onError: 'stop',
        storeHistory: true,
        metadata: {},
        publicUrl: row.publicUrl,
        ...(awaitedUntil === null ? {} : { awaitedUntil }),
      },
      deps.clock.now(),
    )
    return null
  } catch (cause) {
    if (cause instanceof ServiceError) return { kind: 'refused', reason: cause.code, why: cause.message }
    throw cause
  }
}

export const codeOf = (turn: Turn, pending: PendingCall): string => (turn.items[pending.itemIndex] as CodeItem).code

async function sourceOf(deps: TurnDeps, tenant: string, containerId: string, code: string): Promise<ExecutionSource> {
  const body = Buffer.from(code)
  if (body.length <= MAX_INLINE_CODE) return { kind: 'code', code }
  const objectKey = newObjectKey(tenant, 'requests', containerId)
  const { bytes } = await deps.objects.put(objectKey, body, { contentType: 'text/x-python' })
  return { kind: 'blob', code: { objectKey, bytes } }
}
