import { BoundedCache, readThrough } from '../../model/bounded-cache.ts'
import { ServiceError, type ErrorCode } from '../../model/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { UsageStore } from '../../ports/usage-store.ts'
import type { PriceList } from '../../model/usage/price-list.ts'
import { dayOf, sumUsage, type UsageSum } from '../../model/usage/usage.ts'
import type { LimitReader } from './limit-reader.ts'
import type { TenantLimits } from '../../model/tenants/tenant-limits.ts'

const DAY_MS = 86_400_000
/** Range of the time after which a day's usage is summed again, milliseconds. */
const MIN_AGE_MS = 5_000
const MAX_AGE_MS = 300_000
const MAX_TENANTS = 10_000

type BudgetLimits = Pick<TenantLimits, 'sandboxSecondsPerDay' | 'dollarsPerDay' | 'modelTokensPerDay' | 'liveContainers'>
interface Exhausted {
  readonly code: Extract<ErrorCode, 'sandbox_seconds_exhausted' | 'dollars_exhausted' | 'model_tokens_exhausted'>
  readonly limit: number
  readonly what: string
  readonly name: string
}

export interface BudgetReader {
  /** Throws ServiceError `sandbox_seconds_exhausted` or `dollars_exhausted` when the tenant may start no execution today. */
  checkRun(tenant: string): Promise<void>
  /** Throws ServiceError `model_tokens_exhausted` or `dollars_exhausted` when the tenant may call no model today. */
  checkModel(tenant: string): Promise<void>
}

/**
 * How long a sum stays usable: sandboxes use at most one second per second each, so a limit that is far away needs no new sum soon. Tokens have no
 * such bound; a sum below half of their limit is used for a minute.
 */
export function sumAgeMs(used: UsageSum, limits: BudgetLimits, maxUsdPerSecond: number): number {
  const perSecond = Math.max(1, limits.liveContainers)
  const seconds = (limits.sandboxSecondsPerDay - used.sandboxSeconds) / perSecond
  const dollars = maxUsdPerSecond === 0 ? Infinity : (limits.dollarsPerDay - used.costUsd) / (perSecond * maxUsdPerSecond)
  const tokens = tokensOf(used) < limits.modelTokensPerDay / 2 ? 60 : 0
  return Math.min(MAX_AGE_MS, Math.max(MIN_AGE_MS, Math.min(seconds, dollars, tokens) * 1000))
}

const tokensOf = (sum: UsageSum): number => sum.modelInputTokens + sum.modelOutputTokens

/** Compares the usage of the present UTC day with the tenant's daily limits. A sandbox counts while it is held, a turn when it has ended. */
export function createBudgetReader({
  usage,
  limits,
  clock,
  prices: { maxUsdPerSecond },
}: {
  readonly usage: UsageStore
  readonly limits: Pick<LimitReader, 'of'>
  readonly clock: Clock
  readonly prices: PriceList
}): BudgetReader {
  const sums = new BoundedCache<string, Promise<UsageSum>>(MAX_TENANTS)

  async function usedToday(tenant: string, own: BudgetLimits): Promise<UsageSum> {
    const now = clock.now()
    const day = dayOf(now)
    const key = `${tenant} ${day}`
    const sum: Promise<UsageSum> = readThrough(sums, key, {
      now,
      until: now + MIN_AGE_MS,
      read: async () => {
        const used = sumUsage(await usage.ofDay(tenant, day))
        sums.set(key, sum, now + sumAgeMs(used, own, maxUsdPerSecond))
        return used
      },
    })
    return sum
  }

  async function check(tenant: string, find: (used: UsageSum, own: BudgetLimits) => Exhausted | null): Promise<void> {
    const own = await limits.of(tenant)
    const exhausted = find(await usedToday(tenant, own), own)
    if (exhausted === null) return
    const { code, limit, what, name } = exhausted
    const now = clock.now()
    const retryAfterSeconds = Math.ceil((Math.floor(now / DAY_MS + 1) * DAY_MS - now) / 1000)
    throw new ServiceError(
      code,
      `This account has used up its ${limit} ${what} for today (limit ${name}). The limit resets at 00:00 UTC; ask the operator for a higher one.`,
      { limit: { name, value: limit, retryAfterSeconds } },
    )
  }

  return {
    checkRun: (tenant) => check(tenant, (used, own) => secondsExhausted(used, own) ?? dollarsExhausted(used, own)),
    checkModel: (tenant) => check(tenant, (used, own) => tokensExhausted(used, own) ?? dollarsExhausted(used, own)),
  }
}

const secondsExhausted = (used: UsageSum, { sandboxSecondsPerDay: limit }: BudgetLimits): Exhausted | null =>
  used.sandboxSeconds < limit
    ? null
    : { code: 'sandbox_seconds_exhausted', limit, what: 'sandbox seconds', name: 'sandbox_seconds_per_day' }

const dollarsExhausted = (used: UsageSum, { dollarsPerDay: limit }: BudgetLimits): Exhausted | null =>
  used.costUsd < limit ? null : { code: 'dollars_exhausted', limit, what: 'US dollars', name: 'dollars_per_day' }

const tokensExhausted = (used: UsageSum, { modelTokensPerDay: limit }: BudgetLimits): Exhausted | null =>
  tokensOf(used) < limit ? null : { code: 'model_tokens_exhausted', limit, what: 'model tokens', name: 'model_tokens_per_day' }
