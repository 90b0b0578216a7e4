import { isVisible } from '../../../access.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { renderUsage, Usage, UsageQuery } from './schema.ts'
import { ServiceError } from '../../../../core/errors.ts'
import { dayOf, sumUsage } from '../../../../core/usage/usage.ts'

const DAY_MS = 86_400_000
/** Days of one answer. */
const MAX_DAYS = 92
const DEFAULT_DAYS = 30

const usageRoute = defineRoute({
  method: 'get',
  path: '/v1/usage',
  operationId: 'getUsage',
  tag: 'Service',
  summary: 'What was used, per day',
  description: `Executions that have ended, by the UTC day on which they were accepted, each counted once, and what saving the variables of idle containers took, which runs user code. At most ${MAX_DAYS} days an answer. A key that is bound to an end user sees that user's only.`,
  query: UsageQuery,
  answers: { 200: { description: 'Sums per day and in all.', schema: Usage } },
  async handle({ deps, caller, query }) {
    const last = Date.parse(query.to ?? dayOf(deps.clock.now()))
    const first = query.from === undefined ? last - DEFAULT_DAYS * DAY_MS : Date.parse(query.from)
    const count = (last - first) / DAY_MS + 1
    if (count < 1 || count > MAX_DAYS)
      throw new ServiceError('invalid_request', `'from' to 'to' has to be 1 to ${MAX_DAYS} days. Ask for the rest in further calls.`, {
        param: 'from',
      })
    const dates = Array.from({ length: count }, (_, index) => dayOf(first + index * DAY_MS))
    const records = await Promise.all(
      dates.map(async (date) => (await deps.table.usage.ofDay(caller.tenant, date)).filter((record) => isVisible(record, caller))),
    )
    const days = dates.flatMap((date, index) => {
      const ofDay = records[index] ?? []
      return ofDay.length === 0 ? [] : [{ date, sum: sumUsage(ofDay) }]
    })
    return json(200, renderUsage(dayOf(first), dayOf(last), days, sumUsage(records.flat())))
  },
})

export const usageRoutes: readonly AnyRoute[] = [usageRoute]
