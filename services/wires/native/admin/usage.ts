import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { readUsage } from '../../../operations/usage/read-usage.ts'
import { Usage, UsageQuery, renderUsage } from '../usage/schema.ts'
import { tenantOf } from './tenants.ts'

const tenantUsageRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/usage',
  auth: 'session',
  scope: 'admin',
  operationId: 'getTenantUsage',
  tag: 'Administration',
  summary: 'Usage of a tenant per day',
  query: UsageQuery,
  answers: { 200: { description: 'Sums per day and in all.', schema: Usage } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    return json(200, renderUsage(await readUsage(deps, id, query), deps.prices))
  },
})

export const tenantUsageRoutes: readonly AnyRoute[] = [tenantUsageRoute]
