import { newId } from '../../../model/ids.ts'
import { recordRequest } from '../../../http/record-request.ts'
import { checkRequestRate } from '../../../operations/tenancy/check-limits.ts'
import type { MessageAccount } from '../../../http/socket-admissions.ts'
import type { Call } from '../../../http/route.ts'

/** Counts the messages of a WebSocket: their bytes, and those that the socket itself refuses as requests in the rate limit, the audit and the log. */
export function messageAccount({ deps, caller }: Pick<Call, 'deps' | 'caller'>): MessageAccount {
  return {
    lease: deps.bodies.lease(caller.tenant),
    async countRefused({ status, code }) {
      const requestId = newId('request')
      const fields = { route: 'connectResponses', code }
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
