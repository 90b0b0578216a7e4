import { ServiceError } from '../../model/errors.ts'
import { dayOf, sumUsage, type UsageRecord, type UsageSum } from '../../model/usage/usage.ts'
import type { Table } from '../../ports/table.ts'
import type { Clock } from '../../ports/clock.ts'

const DAY_MS = 86_400_000
/** Days of one answer. */
export const MAX_USAGE_DAYS = 92
const DEFAULT_DAYS = 30

export interface UsageReport {
  /** First and last day, `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
  /** Days with usage, the earliest first. */
  readonly days: readonly { readonly date: string; readonly sum: UsageSum }[]
  readonly total: UsageSum
}

/** Sums a tenant's usage from `from` to `to` (UTC days); the last 30 days by default. Throws ServiceError `invalid_request` for more than 92 days. */
export async function readUsage(
  { table, clock }: { readonly table: Pick<Table, 'usage'>; readonly clock: Clock },
  tenant: string,
  {
    from,
    to,
    isCounted = () => true,
  }: { readonly from?: string | undefined; readonly to?: string | undefined; readonly isCounted?: (record: UsageRecord) => boolean },
): Promise<UsageReport> {
  const last = Date.parse(to ?? dayOf(clock.now()))
  const first = from === undefined ? last - DEFAULT_DAYS * DAY_MS : Date.parse(from)
  const count = (last - first) / DAY_MS + 1
  if (count < 1 || count > MAX_USAGE_DAYS)
    throw new ServiceError('invalid_request', `'from' to 'to' must cover 1 to ${MAX_USAGE_DAYS} days. Request the rest in further calls.`, {
      param: 'from',
    })
  const dates = Array.from({ length: count }, (_, index) => dayOf(first + index * DAY_MS))
  const records = await Promise.all(dates.map(async (date) => (await table.usage.ofDay(tenant, date)).filter(isCounted)))
  const days = dates.flatMap((date, index) => {
    const ofDay = records[index] ?? []
    return ofDay.length === 0 ? [] : [{ date, sum: sumUsage(ofDay) }]
  })
  return { from: dayOf(first), to: dayOf(last), days, total: sumUsage(records.flat()) }
}
