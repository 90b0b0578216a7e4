// `npm run pool-size`: how many warm sandboxes serve a demand, and their cost, computed by the code that sizes the pool.
import { readConfig, type Config } from '../../infra/config.ts'
import { HOURS_A_MONTH, sandboxHour } from './cost/sandbox-cost.ts'
import { MEMORY_TIERS } from '../../services/model/limits.ts'
import { poolSizeFor, type PoolDemand } from '../../services/model/sandboxes/pool-size.ts'
import { PRICES_AS_OF, PRICES_REGION } from '../../services/adapters/drivers/fargate/prices.ts'
import { readCdkConfig } from './cdk-config.ts'
import { numberOption, choiceOption, readFlags, runOperation, UsageError } from './flags.ts'

export const POOL_SIZE_USAGE = `Usage: npm run pool-size -- --arrivals N [--start 57] [--wait 0] [--share 95] [--tier 1g] [--architecture X86_64|ARM64] [--spot 0] [--json]

  --arrivals  peak number of new containers per minute
  --start     seconds that a start takes (57 is the mean of public Fargate runs; Docker takes about 1.5)
  --wait      seconds that a caller may wait; 0 means no wait
  --share     percent of callers that wait no longer
`

/** Fargate's launch limits per account and Region: burst, then starts per second. */
const MAX_STARTS_PER_SECOND = 20

/** Throws UsageError. */
export function poolReport(
  args: readonly string[],
  defaults: Pick<Config['sandboxes'], 'architecture' | 'spotPercent' | 'diskGiB' | 'tiers'>,
) {
  const flags = readFlags(args, ['arrivals', 'start', 'wait', 'share', 'tier', 'architecture', 'spot'], ['json'])
  if (flags.arrivals === undefined) throw new UsageError('--arrivals is missing: pass the peak number of new containers per minute.')
  const demand: PoolDemand = {
    arrivalsPerSecond: numberOption(flags, 'arrivals', { fallback: 0 }) / 60,
    startSeconds: numberOption(flags, 'start', { fallback: 57 }),
    targetWaitSeconds: numberOption(flags, 'wait', { fallback: 0 }),
    share: numberOption(flags, 'share', { fallback: 95, min: 1, max: 99.999 }) / 100,
  }
  const tier = choiceOption(flags, 'tier', { choices: MEMORY_TIERS, fallback: '1g' })
  const architecture = choiceOption(flags, 'architecture', { choices: ['X86_64', 'ARM64'] as const, fallback: defaults.architecture })
  const hour = sandboxHour({
    tier,
    architecture,
    diskGiB: defaults.diskGiB,
    vcpu: defaults.tiers[tier]?.vcpu,
    spotShare: numberOption(flags, 'spot', { fallback: defaults.spotPercent, max: 100 }) / 100,
  })
  const size = poolSizeFor(demand)
  return { isJson: flags.json === true, demand, tier, architecture, size, usdPerMonth: size * hour * HOURS_A_MONTH }
}

export function poolText({ demand, tier, architecture, size, usdPerMonth }: ReturnType<typeof poolReport>): string {
  const { arrivalsPerSecond, startSeconds, targetWaitSeconds, share } = demand
  const wait = targetWaitSeconds === 0 ? 'find a warm sandbox' : `wait at most ${targetWaitSeconds} s`
  const exceedsStartLimit = arrivalsPerSecond > MAX_STARTS_PER_SECOND
  return [
    `${size} warm sandbox${size === 1 ? '' : 'es'} of tier ${tier}: ${Math.round(share * 1e5) / 1e3} % of callers ${wait}`,
    `at ${Math.round(arrivalsPerSecond * 6000) / 100} new containers a minute and ${startSeconds} s per start.`,
    `${usdPerMonth.toFixed(2)} US dollars a month on ${architecture} (${PRICES_REGION}, ${PRICES_AS_OF}).`,
    `cdk.json: "tiers": { "${tier}": { "warm": ${size} } }, or { "arrivalsPerMinute": … } with the same numbers.`,
    ...(exceedsStartLimit
      ? [
          `One account and Region allow ${MAX_STARTS_PER_SECOND} starts a second, which this demand exceeds: docs/scaling.md describes cells.`,
        ]
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
