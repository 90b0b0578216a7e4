import { createHash } from 'node:crypto'
import type { ClaimedId } from '../operations/claimed-id.ts'
import { ServiceError } from '../model/errors.ts'
import { newId, type IdKind } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { Caller } from '../model/tenants/tenant.ts'
import type { ApiDeps } from './deps.ts'

const KEY = /^[\x21-\x7e]{1,255}$/
/** The official OpenAI SDKs send 0 with the first attempt and count their automatic retries in it. */
const RETRY_COUNT = 'x-stainless-retry-count'

interface ClaimingCall {
  readonly deps: Pick<ApiDeps, 'table' | 'clock'>
  readonly caller: Caller
  readonly request: Request
}

const RETRY_MS = LIMITS.retryAttachMinutes * 60_000
const KEY_MS = LIMITS.idempotencyHours * 3_600_000

/**
 * The id under which this call creates its object; `body` is the request body, or a digest of it, and `id` that of a new object. Calls with the same `Idempotency-Key` and
 * body get the same id for 24 hours; another body throws ServiceError `idempotency_key_reused`. Without a key, a retry of an SDK (retry count of
 * 1 or more) gets the id of the call with the same API key, end user, address and body in the last ten minutes. When `hasFailed` says that the object
 * of that id is the failure which the SDK answers with this retry, the call gets a new id: repeating the failure would make the retry useless.
 */
export async function claimId(
  { deps, caller, request }: ClaimingCall,
  kind: IdKind,
  {
    body,
    id = newId(kind),
    hasFailed = async () => false,
  }: { readonly body: Uint8Array | string; readonly id?: string; readonly hasFailed?: (id: string) => Promise<boolean> },
): Promise<ClaimedId> {
  const key = request.headers.get('idempotency-key')
  const retries = request.headers.get(RETRY_COUNT)
  const now = deps.clock.now()
  if (key === null && retries === null) return { id, at: now, isReplay: false }

  const { idempotency } = deps.table
  const bodyHash = hashOf(new URL(request.url).pathname, body)
  if (key === null) {
    const record = { bodyHash, resultId: id, expiresAt: now + RETRY_MS }
    // Tokens of one account for several end users have the same key id.
    const scope = `retry#${kind}#${caller.keyId}#${caller.subject ?? ''}`
    if (Number(retries) >= 1) {
      const claim = await idempotency.claim(caller.tenant, { scope, key: bodyHash, record, now })
      if (claim.isNew || !(await hasFailed(claim.record.resultId)))
        return { id: claim.record.resultId, at: claim.record.expiresAt - RETRY_MS, isReplay: !claim.isNew }
    }
    await idempotency.remember(caller.tenant, { scope, key: bodyHash, record })
    return { id, at: now, isReplay: false }
  }

  if (!KEY.test(key))
    throw new ServiceError('invalid_request', 'The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.', {
      param: 'Idempotency-Key',
    })
  const record = { bodyHash, resultId: id, expiresAt: now + KEY_MS }
  const claim = await idempotency.claim(caller.tenant, { scope: `${kind}#${caller.subject ?? ''}`, key, record, now })
  if (claim.record.bodyHash !== bodyHash)
    throw new ServiceError(
      'idempotency_key_reused',
      'An earlier request with other content used this Idempotency-Key. Use a new key for a new request.',
      { param: 'Idempotency-Key' },
    )
  return { id: claim.record.resultId, at: claim.record.expiresAt - KEY_MS, isReplay: !claim.isNew }
}

const hashOf = (path: string, body: Uint8Array | string): string =>
  createHash('sha256').update(path).update('\n').update(body).digest('hex')
