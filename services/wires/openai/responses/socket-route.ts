import { json } from '../../../http/responses.ts'
import { defineRoute, type Call } from '../../../http/route.ts'
import { ServiceError } from '../../../model/errors.ts'
import { newId } from '../../../model/ids.ts'
import { recordRequest } from '../../../http/record-request.ts'
import { checkRequestRate } from '../../../operations/tenancy/check-limits.ts'
import type { MessageAccount } from '../../../http/socket-admissions.ts'

const ADVICE = 'Send POST /v1/responses with "stream": true.'

/** The handshake of a WebSocket. The server upgrades the connection after this route has admitted it; a function URL has no connection to upgrade. */
export const responsesSocketRoute = defineRoute({
  method: 'get',
  path: '/v1/responses',
  auth: 'session',
  scope: 'run',
  operationId: 'connectResponses',
  tag: 'Responses',
  summary: 'Open a WebSocket for chat turns',
  description:
    'A WebSocket on one machine: each message `response.create` has the fields of `POST /v1/responses`, and the events come as messages. A deployment in AWS answers 426.',
  answers: { 101: { description: 'The connection is a WebSocket.' } },
  errors: ['upgrade_required', 'too_many_streams'],
  async handle(call) {
    const { deps, caller, request } = call
    const { sockets } = deps
    if (sockets === undefined) throw new ServiceError('upgrade_required', `This deployment offers no WebSocket. ${ADVICE}`)
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
      throw new ServiceError('upgrade_required', `This address takes a WebSocket handshake, or POST. ${ADVICE}`)
    sockets.admit(request, { caller, max: (await deps.limits.of(caller.tenant)).openStreams, messages: messageAccount(call) })
    return json(200, {})
  },
})

/** Counts the messages of a WebSocket: their bytes, and those that the socket itself refuses as requests in the rate limit, the audit and the log. */
function messageAccount({ deps, caller }: Pick<Call, 'deps' | 'caller'>): MessageAccount {
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
