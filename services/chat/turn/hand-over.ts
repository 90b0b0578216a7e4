import { acceptExecution } from '../../core/executions/accept-execution.ts'
import { ServiceError } from '../../core/errors.ts'
import { hasEnded, type ExecutionSource } from '../../core/executions/execution.ts'
import { derivedId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { PendingCall, ResponseRecord } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import { awaitEnd } from './await-end.ts'
import { callInterpreting, type CodeItem } from '../../core/responses/item-events.ts'
import { makeContainer, ownContainerId } from './find-container.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { saveTurn } from './save-turn.ts'
import type { Turn } from './turn.ts'

/** Source up to this many bytes rides in the execution's row. */
const MAX_INLINE_CODE = 128 * 1024

/** Code that cannot be handed over, with a sentence for the model. */
export interface Refused {
  readonly reason: string
  readonly why: string
}

/** Notes in the turn that this call's code is to run. Null when it may. */
export async function startCall(deps: TurnDeps, turn: Turn, index: number): Promise<Refused | null> {
  const { row } = turn
  const item = turn.items[index] as CodeItem
  const bytes = Buffer.byteLength(item.code)
  if (bytes > LIMITS.maxCodeBytes)
    return {
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
  return null
}

/**
 * Commits what is pending, accepts it and stays with it for a while; the row stays held. It is committed first, so that a crash between
 * repeats the acceptance with the same id and the same code. Ended code is in `turn.execution` afterwards.
 */
export async function handOver(deps: TurnDeps, turn: Turn, held: LeaseHeartbeat): Promise<'ended' | 'running' | 'stopped' | Refused> {
  const { row, pending } = turn
  if (pending === null) throw new Error('Nothing is pending')
  const noted = await saveTurn(deps, turn, { waitingFence: row.fence })
  if (noted.cancelRequestedAt !== null) await held.checkRow()
  const refused = held.reason === null ? await stayWith(deps, turn, pending, held) : null
  // Whoever cancels interrupts the code as well, and is seen here before the next look.
  if (turn.execution?.status === 'cancelled') await held.checkRow()
  if (held.reason === null) return refused ?? (turn.execution !== null && hasEnded(turn.execution.status) ? 'ended' : 'running')
  // From here on the output is read as far as it has come, so readers may not run ahead any more.
  if (held.reason !== 'lost') await saveTurn(deps, turn, { waitingFence: 0 })
  return 'stopped'
}

/** Accepts what is pending and waits for its end, for a while. Not null: it was refused. */
async function stayWith(deps: TurnDeps, turn: Turn, pending: PendingCall, held: LeaseHeartbeat): Promise<Refused | null> {
  const { row } = turn
  const end = awaitEnd(deps, row.tenant, pending)
  try {
    const refused = await acceptPending(deps, row, pending, codeOf(turn, pending), end.until)
    turn.execution = refused === null ? await end.wait(held.signal) : await deps.table.executions.get(row.tenant, pending.executionId)
    // A step before this one may have handed it over after all; then its result counts.
    return turn.execution === null ? refused : null
  } finally {
    end.close()
  }
}

/** Null when it was accepted. Repeating it accepts nothing twice. */
export async function acceptPending(
  deps: TurnDeps,
  row: ResponseRecord,
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
    if (cause instanceof ServiceError) return { reason: cause.code, why: cause.message }
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
