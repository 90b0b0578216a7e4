import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Caller } from '../../core/tenants/tenant.ts'
import type { ApiDeps } from '../deps.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** The client's key for a call, and the body that came with it. */
export interface IdempotencyKey {
  readonly key: string
  readonly body: Uint8Array
}

/**
 * The id under which this call's execution is (to be) accepted. Without an `Idempotency-Key` it is a new one. With one it is the same
 * for every call with the same key and body; another body throws ServiceError `idempotency_key_reused`.
 */
export async function claimExecutionId(
  deps: Pick<ApiDeps, 'table' | 'clock'>,
  caller: Caller,
  containerId: string,
  idempotency: IdempotencyKey | null,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const id = newId('execution')
  if (idempotency === null) return { id, isNew: true }
  const { key, body } = idempotency
  if (!KEY.test(key))
    throw new ServiceError('invalid_request', 'The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.', {
      param: 'Idempotency-Key',
    })
  const now = deps.clock.now()
  const bodyHash = createHash('sha256').update(containerId).update('\n').update(body).digest('hex')
  const record = { bodyHash, resultId: id, expiresAt: now + LIMITS.idempotencyHours * 3_600_000 }
  const claim = await deps.table.idempotency.claim(caller.tenant, `executions#${caller.subject ?? ''}`, key, record, now)
  if (claim.record.bodyHash !== bodyHash)
    throw new ServiceError(
      'idempotency_key_reused',
      'This Idempotency-Key came with another request before. Use a new key for a new request.',
      { param: 'Idempotency-Key' },
    )
  return { id: claim.record.resultId, isNew: claim.isNew }
}
