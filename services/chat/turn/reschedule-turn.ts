import { RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import { notifyResponse } from '../../core/responses/accept-response.ts'
import { failAsDeadLetter } from '../../core/responses/fail-as-dead-letter.ts'
import { describeCause } from '../../core/describe-cause.ts'
import { backOffAfterFailure } from '../../core/back-off.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import type { Turn } from './turn.ts'

/** What is told of a step that failed. `again_in_seconds` is null when the turn was given up. */
export interface PutOff {
  readonly detail: string
  readonly again_in_seconds: number | null
}

/**
 * After a step that failed: gives the row back, for nobody works on it, and sends a fresh message, later each time. A turn to which nothing but failing
 * steps have come for long ends. Its own message counts as done: it would go to the dead letters after a few tries, and a store that is away for half
 * a minute would end every turn that runs then. `row` as it was taken. Null when the row is somebody else's; throws when that cannot be done.
 */
export async function rescheduleTurn(deps: TurnDeps, row: ResponseRecord, turn: Turn | null, cause: unknown): Promise<PutOff | null> {
  const { table, clock, queue } = deps
  const { tenant, id, fence } = row
  const now = clock.now()
  const stepsFailSince = turn?.hasCommitted === true ? now : (row.stepsFailSince ?? now)
  const { retriesExhausted, againInSeconds } = backOffAfterFailure(stepsFailSince, now)
  const dueAt = now + againInSeconds * 1000 + RECONCILE_AFTER_MS
  const freed = await table.responses.commit(tenant, id, fence, { stepsFailSince }, { release: true, dueAt })
  if (freed === null) return null
  const detail = describeCause(cause)
  if (retriesExhausted && (await failAsDeadLetter(deps, tenant, id)) === 'buried') return { detail, again_in_seconds: null }
  await notifyResponse(queue, tenant, id, againInSeconds)
  return { detail, again_in_seconds: againInSeconds }
}
