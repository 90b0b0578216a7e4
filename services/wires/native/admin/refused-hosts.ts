import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { answerSchema } from '../../../model/lazy-schema.ts'
import { refusedHosts } from '../../../operations/network/refused-hosts.ts'
import { tenantOf } from './tenants.ts'

const RefusedHosts = answerSchema(() =>
  z
    .object({
      object: z.literal('list'),
      data: z.array(
        z.object({
          host: z.string(),
          reason: z.string(),
          requests: z.int(),
          last_at: z.string(),
          container_id: z.string().openapi({ description: 'The container whose code asked last.' }),
          in_ceiling: z.boolean().openapi({ description: 'The ceiling has the host, so the account can allow it in a container.' }),
        }),
      ),
    })
    .openapi('RefusedHosts'),
)

const refusedHostsRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/refused_hosts',
  auth: 'session',
  scope: 'admin',
  operationId: 'listRefusedHosts',
  tag: 'Administration',
  summary: 'Hosts that the code of a tenant was refused',
  description: 'The latest first, at most 50: of the newest 50 containers, and of the latest 100 requests of each.',
  answers: { 200: { description: 'The hosts.', schema: RefusedHosts } },
  errors: ['tenant_not_found'],
  async handle({ deps, param }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    const data = (await refusedHosts(deps, id)).map(({ host, reason, requests, lastAt, containerId, isInCeiling }) => ({
      ...{ host, reason, requests, last_at: new Date(lastAt).toISOString() },
      ...{ container_id: containerId, in_ceiling: isInCeiling },
    }))
    return json(200, { object: 'list', data })
  },
})

export const refusedHostsRoutes: readonly AnyRoute[] = [refusedHostsRoute]
