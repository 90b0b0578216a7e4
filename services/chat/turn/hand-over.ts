import { acceptExecution, NUDGE_AFTER_MS } from '../../core/accept-execution.ts'
import { nudgeResponse } from '../../core/accept-response.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ExecutionSource } from '../../core/execution.ts'
import { derivedId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { PendingCall, Response } from '../../core/response.ts'
import type { TurnDeps } from '../deps.ts'
import { callInterpreting, type CodeItem } from '../events/item-events.ts'
import { makeContainer, ownContainerId } from './find-container.ts'
import { RowLost } from './hold-row.ts'
import type { Turn } from './turn.ts'

/** Source up to this many bytes rides in the execution's row. */
const MAX_INLINE_CODE = 128 * 1024

/** What came of handing code over: it was accepted, or it was refused with a sentence for the model. */
export type HandedOver = { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly reason: string; readonly why: string }

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
  await Promise.all([turn.writer.drain(), isOwn ? makeContainer(deps, row) : null])
  return handOver(deps, turn)
}

/** Gives the row back and accepts what is pending in it. */
export async function handOver(deps: TurnDeps, turn: Turn): Promise<HandedOver> {
  const { row, pending } = turn
  if (pending === null) throw new Error('Nothing is pending')
  await turn.writer.drain()
  const patch = { ...(await turn.snapshot().patch()), ...(turn.isSealed ? { accountedFence: row.fence } : {}) }
  const released = await deps.table.responses.commit(row.tenant, row.id, row.fence, patch, {
    release: true,
    dueAt: deps.clock.now() + NUDGE_AFTER_MS,
  })
  if (released === null) throw new RowLost(row.id)
  const handed = await acceptPending(deps, row, pending, codeOf(turn, pending))
  // Whoever cancelled meanwhile found the row held and no code to interrupt.
  if (released.cancelRequestedAt !== null) await nudgeResponse(deps.queue, row.tenant, row.id)
  return handed
}

/** Repeating it accepts nothing twice. */
export async function acceptPending(deps: TurnDeps, row: Response, pending: PendingCall, code: string): Promise<HandedOver> {
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
      },
      deps.clock.now(),
    )
    return { kind: 'accepted' }
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
