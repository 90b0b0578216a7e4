import { newId } from '../model/ids.ts'
import { checkRequestRate } from '../operations/tenancy/check-limits.ts'
import { recordRequest } from './record-request.ts'
import type { Call } from './route.ts'
import type { MessageAccount } from './socket-admissions.ts'

/**
 * Counts the messages of a WebSocket: their bytes as those of `owner`, and those that the socket itself refuses as requests in the rate limit, the audit and the
 * log. `route` is the operation of the connection.
 */
export function messageAccount(
  { deps, caller }: Pick<Call, 'deps' | 'caller'>,
  { owner, route }: { readonly owner: string; readonly route: string },
): MessageAccount {
  return {
    lease: deps.bodies.lease(owner),
    async countRefused({ status, code }) {
      const requestId = newId('request')
      const fields = { route, code }
      deps.telemetry.emit({
        ...fields,
        event: 'http.request',
        outcome: 'refused',
        request_id: requestId,
        tenant: caller.tenant,
        key_id: caller.keyId,
        method: 'POST',
        status,
      })
      await recordRequest(deps.audit, { caller, method: 'POST', status, requestId, at: deps.clock.now(), fields, params: {} })
      await checkRequestRate(deps, caller.tenant)
    },
  }
}
