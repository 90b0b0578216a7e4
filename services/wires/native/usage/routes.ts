import { visibleTo } from '../../../operations/access.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { MAX_USAGE_DAYS, readUsage } from '../../../operations/usage/read-usage.ts'
import { renderUsage, Usage, UsageQuery } from './schema.ts'

const usageRoute = defineRoute({
  method: 'get',
  path: '/v1/usage',
  auth: 'session',
  scope: 'read',
  operationId: 'getUsage',
  tag: 'Service',
  summary: 'Usage per day',
  description: `Executions that have ended, by the UTC day on which they were accepted, each counted once, and sandboxes by the day, from the claim of each to its release, whether or not code ran. A sandbox that is held appears within 90 seconds. At most ${MAX_USAGE_DAYS} days an answer. A key that is bound to an end user sees that user's only.`,
  query: UsageQuery,
  answers: { 200: { description: 'Sums per day and in all.', schema: Usage } },
  handle: async ({ deps, caller, query }) =>
    json(200, renderUsage(await readUsage(deps, caller.tenant, { ...query, isCounted: visibleTo(caller, 'read') }), deps.prices)),
})

export const usageRoutes: readonly AnyRoute[] = [usageRoute]
