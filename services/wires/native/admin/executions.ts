import { DEFAULT_PAGE } from '../../../http/schemas.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { RECENT_CONTAINERS, recentExecutions } from '../../../operations/executions/recent-executions.ts'
import { ExecutionSummaries, RecentQuery, renderSummaries } from '../executions/summary.ts'
import { tenantOf } from './tenants.ts'

const tenantExecutionsRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/executions',
  auth: 'session',
  scope: 'admin',
  operationId: 'listTenantExecutions',
  tag: 'Administration',
  summary: 'The newest executions of a tenant',
  description: `Of its newest ${RECENT_CONTAINERS} containers: that each ran and how it ended. Code and output stay with the tenant.`,
  query: RecentQuery,
  answers: { 200: { description: 'The executions, the newest first.', schema: ExecutionSummaries } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    return json(200, renderSummaries(await recentExecutions(deps.table, id, { limit: query.limit ?? DEFAULT_PAGE })))
  },
})

export const tenantExecutionRoutes: readonly AnyRoute[] = [tenantExecutionsRoute]
