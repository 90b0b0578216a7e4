// `npm run pool-size`: how many warm sandboxes answer a demand, and what they cost, by the code that sizes the pool.
import { readConfig } from '../../infra/config.ts'
import { HOURS_A_MONTH, sandboxHour } from '../../services/core/cost-model.ts'
import { MEMORY_TIERS } from '../../services/core/limits.ts'
import { poolSizeFor, type PoolDemand } from '../../services/core/sandboxes/pool-size.ts'
import { PRICES_AS_OF, PRICES_REGION } from '../../services/core/prices.ts'
import { readCdkConfig } from './cdk-config.ts'
import { numberOption, oneOf, readFlags, runOperation, UsageError } from './flags.ts'

export const POOL_SIZE_USAGE = `Usage: npm run pool-size -- --arrivals N [--start 57] [--wait 0] [--share 95] [--tier 1g] [--architecture X86_64|ARM64] [--spot 0] [--json]

  --arrivals  fresh containers that ask for a sandbox in one minute, at the busiest
  --start     seconds that a start takes (57 is the mean of public Fargate runs; Docker takes about 1.5)
  --wait      seconds that a caller may wait; 0 means that a sandbox is there
  --share     percent of the callers who wait no longer
`

/** Burst of task starts that an account and Region allow, and how many a second after it. */
const LAUNCHES = { burst: 100, aSecond: 20 }

/** Throws UsageError. */
export function poolReport(args: readonly string[], defaults: { readonly architecture: 'X86_64' | 'ARM64'; readonly spotPercent: number }) {
  const flags = readFlags(args, ['arrivals', 'start', 'wait', 'share', 'tier', 'architecture', 'spot'], ['json'])
  if (flags.arrivals === undefined) throw new UsageError('--arrivals is missing: how many fresh containers a minute, at the busiest?')
  const demand: PoolDemand = {
    arrivalsPerSecond: numberOption(flags, 'arrivals', 0) / 60,
    startSeconds: numberOption(flags, 'start', 57),
    targetWaitSeconds: numberOption(flags, 'wait', 0),
    share: numberOption(flags, 'share', 95, { least: 1, most: 99.999 }) / 100,
  }
  const tier = oneOf(flags, 'tier', MEMORY_TIERS, '1g')
  const architecture = oneOf(flags, 'architecture', ['X86_64', 'ARM64'] as const, defaults.architecture)
  const hour = sandboxHour({ tier, architecture, spotShare: numberOption(flags, 'spot', defaults.spotPercent, { most: 100 }) / 100 })
  const size = poolSizeFor(demand)
  return { isJson: flags.json === true, demand, tier, architecture, size, usdPerMonth: size * hour * HOURS_A_MONTH }
}

export function poolText({ demand, tier, architecture, size, usdPerMonth }: ReturnType<typeof poolReport>): string {
  const { arrivalsPerSecond, startSeconds, targetWaitSeconds, share } = demand
  const wait = targetWaitSeconds === 0 ? 'find a sandbox that is there' : `wait at most ${targetWaitSeconds} s`
  const beyond = arrivalsPerSecond > LAUNCHES.aSecond
  return [
    `${size} warm sandbox${size === 1 ? '' : 'es'} of tier ${tier}: ${Math.round(share * 1e5) / 1e3} % of callers ${wait}`,
    `at ${Math.round(arrivalsPerSecond * 6000) / 100} fresh containers a minute and ${startSeconds} s a start.`,
    `${usdPerMonth.toFixed(2)} US dollars a month on ${architecture} (${PRICES_REGION}, ${PRICES_AS_OF}).`,
    `cdk.json: "tiers": { "${tier}": { "warm": ${size} } }, or { "arrivalsPerMinute": … } with the same numbers.`,
    ...(beyond
      ? [`More than ${LAUNCHES.aSecond} starts a second is more than one account and Region allow: see docs/scaling.md on cells.`]
      : []),
    '',
  ].join('\n')
}

if (import.meta.main)
  await runOperation(POOL_SIZE_USAGE, async (args) => {
    const { sandboxes } = readConfig(await readCdkConfig())
    const report = poolReport(args, sandboxes)
    process.stdout.write(report.isJson ? `${JSON.stringify(report)}\n` : poolText(report))
    return 0
  })
