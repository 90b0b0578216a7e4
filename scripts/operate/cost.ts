// `npm run cost`: the cost of turns, of an idle month, and of the same turns at other providers.
import { readConfig, type Config } from '../../infra/config.ts'
import { costOfMonth } from './cost/month-cost.ts'
import { costAtPeers, costOfSandboxTime } from './cost/peer-cost.ts'
import { costOfTurns } from './cost/turn-cost.ts'
import { total, TYPICAL, type Line, type Usage } from './cost/usage.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../services/model/limits.ts'
import { sleepTimes } from '../../services/workers/reconcile/hibernation-time.ts'
import { ECS_MODEL } from './simulate/aws-limits.ts'
import { UP_MS } from './simulate/simulated-supervisor.ts'
import { PEER_PRICES } from './peer-prices.ts'
import { FARGATE_SIZES, vcpusOf } from '../../services/adapters/drivers/fargate/sizes.ts'
import { PRICES_AS_OF, PRICES_REGION } from '../../services/adapters/drivers/fargate/prices.ts'
import { writeHtmlReport } from '../report/html-report.ts'
import { readCdkConfig } from './cdk-config.ts'
import { costHtml } from './cost-html.ts'
import { numberOption, choiceOption, readFlags, runOperation, type Flags } from './flags.ts'

export const COST_USAGE = `Usage: npm run cost -- [--turns 1000] [--per-container 5] [--run 2] [--gap 60] [--idle 300] [--start 57] [--model 6]
                       [--tier 1g] [--vcpu 0.5] [--architecture X86_64|ARM64] [--spot 0] [--json] [--html FILE]

  --turns          chat turns, each with one run of code
  --per-container  turns of one conversation, in one container
  --run, --gap     seconds that code runs in a turn; seconds between two turns
  --idle           seconds without use after which a container is hibernated; default: what the orchestrator decides from the gaps
  --start          seconds that a start takes on Fargate
  --model          seconds of model time in a turn
  --tier           1g, 4g, 16g or 64g
  --vcpu           vCPUs of a sandbox; 1g can have 0.25
  --spot           percent of sandboxes on Spot
  --html           also writes a report with charts to this file

Defaults come from cdk.json (architecture, Spot, vCPUs, pools, zones) and from a typical conversation.
`

const FLAGS = ['turns', 'per-container', 'run', 'gap', 'idle', 'start', 'model', 'tier', 'vcpu', 'architecture', 'spot', 'html'] as const

/** Throws UsageError. */
export function usageFrom(flags: Flags<(typeof FLAGS)[number]>, config: Pick<Config, 'sandboxes'>): Usage {
  const { architecture, spotPercent, diskGiB } = config.sandboxes
  const tier = choiceOption(flags, 'tier', { choices: MEMORY_TIERS, fallback: TYPICAL.tier })
  const turnsPerContainer = numberOption(flags, 'per-container', { fallback: TYPICAL.turnsPerContainer, min: 1 })
  const startSeconds = numberOption(flags, 'start', { fallback: TYPICAL.startSeconds })
  const gapSeconds = numberOption(flags, 'gap', { fallback: TYPICAL.gapSeconds })
  return {
    ...TYPICAL,
    turns: numberOption(flags, 'turns', { fallback: TYPICAL.turns, min: 1 }),
    turnsPerContainer,
    runSeconds: numberOption(flags, 'run', { fallback: TYPICAL.runSeconds }),
    gapSeconds,
    idleSeconds: numberOption(flags, 'idle', { fallback: idleSecondsOf(config, { tier, turnsPerContainer, gapSeconds, startSeconds }) }),
    startSeconds,
    modelSeconds: numberOption(flags, 'model', { fallback: TYPICAL.modelSeconds }),
    tier,
    vcpu: vcpuFrom(flags, tier, config.sandboxes.tiers[tier]?.vcpu),
    diskGiB,
    architecture: choiceOption(flags, 'architecture', { choices: ['X86_64', 'ARM64'] as const, fallback: architecture }),
    spotShare: numberOption(flags, 'spot', { fallback: spotPercent, max: 100 }) / 100,
  }
}

/** Of a tier at Fargate. Throws UsageError. */
function vcpuFrom(flags: Flags<(typeof FLAGS)[number]>, tier: MemoryTier, configured: number | undefined): number {
  const choices = FARGATE_SIZES[tier].vcpus.map(String)
  return Number(choiceOption(flags, 'vcpu', { choices, fallback: String(vcpusOf(tier, configured)) }))
}

/**
 * How long an idle container keeps its sandbox: the orchestrator's own rule, for a conversation with these pauses. A message with a delay hibernates the
 * container within a second of that time.
 */
function idleSecondsOf(
  { sandboxes }: Pick<Config, 'sandboxes'>,
  { tier, turnsPerContainer, gapSeconds, startSeconds }: Pick<Usage, 'tier' | 'turnsPerContainer' | 'gapSeconds' | 'startSeconds'>,
): number {
  const pauses = Array.from({ length: Math.max(0, turnsPerContainer - 1) }, () => gapSeconds * 1000)
  const { warmMs, coldMs } = sleepTimes(pauses, {
    earlySleepMs: sandboxes.earlySleepSeconds * 1000,
    hibernateAfterMs: sandboxes.hibernateAfterSeconds * 1000,
    wakeMs: startSeconds * 1000,
  })
  return (hasPool(sandboxes, tier) ? warmMs : coldMs) / 1000 + 1
}

const hasPool = (sandboxes: Config['sandboxes'], tier: MemoryTier): boolean => (sandboxes.tiers[tier]?.warm ?? 0) > 0

/** Time until a hibernated container runs code again, as a sentence. Starts take 45 to 70 s in the simulation. */
const wakeTime = (sandboxes: Config['sandboxes'], tier: MemoryTier): string => {
  const [fastest, slowest] = ECS_MODEL.startMs
  const p95 = (fastest + 0.95 * (slowest - fastest) + UP_MS) / 1000
  return hasPool(sandboxes, tier)
    ? `A hibernated container wakes into a warm sandbox with a claim and a restore of its variables; when the pool is empty, in ${Math.ceil(p95)} s (p95).`
    : `A hibernated container wakes with a start: ${Math.ceil(p95)} s (p95), and the restore of its variables. A warm pool avoids the start.`
}

/** The command's output as data. */
export function costReport(usage: Usage, config: Config) {
  const pool = Object.fromEntries(Object.entries(config.sandboxes.tiers).map(([tier, { warm }]) => [tier, warm]))
  const turns = costOfTurns(usage)
  const month = costOfMonth({
    endpointZones: config.network.endpointZones,
    alarmMetrics: alarmMetrics(Object.values(pool).filter((warm) => warm > 0).length, config) - canaryMetrics(config),
    canaryMetrics: canaryMetrics(config),
    uploadService: config.api.uploadService,
    networkGateway: config.network.gateway,
    privateIngress: config.api.privateIngress,
    rateLimit: config.api.rateLimit !== undefined,
    pool,
    vcpus: Object.fromEntries(Object.entries(config.sandboxes.tiers).map(([tier, { vcpu }]) => [tier, vcpu])),
    architecture: usage.architecture,
    diskGiB: usage.diskGiB,
    spotShare: usage.spotShare,
  })
  return {
    asOf: PRICES_AS_OF,
    region: PRICES_REGION,
    usage,
    turns: { lines: turns, total: total(turns) },
    wake: wakeTime(config.sandboxes, usage.tier),
    month: { lines: month, base: total(month.filter(({ isOptional }) => isOptional !== true)), total: total(month) },
    peers: costAtPeers(usage),
    sandboxTime: costOfSandboxTime(usage),
    peerPrices: PEER_PRICES,
  }
}

type AlarmSettings = {
  readonly api: Pick<Config['api'], 'uploadService' | 'privateIngress'>
  readonly network: Pick<Config['network'], 'gateway'>
  readonly sandboxes: Pick<Config['sandboxes'], 'spotPercent'>
  readonly deployment: Pick<Config['deployment'], 'canaryMinutes'>
}

/**
 * Number of alarm metrics in the templates: with pools, one more for cold starts and one per pool; with an upload service or a network gateway, one for its tasks; with
 * on-demand and Spot tasks, one for the second quota; with a canary, two per function with an alias. Private ingress has two instead of those of
 * the API's function and the distribution, and no canary of that function.
 */
export function alarmMetrics(
  pools: number,
  { api, network, sandboxes: { spotPercent }, deployment: { canaryMinutes } }: AlarmSettings,
): number {
  const standing = 25 + (pools === 0 ? 0 : 1 + pools)
  const optional = Number(api.uploadService) + Number(network.gateway) + (spotPercent > 0 && spotPercent < 100 ? 1 : 0)
  return standing + optional + canaryMetrics({ api, deployment: { canaryMinutes } })
}

/** Those by which CodeDeploy decides whether a canary is rolled back. */
const canaryMetrics = ({ api, deployment: { canaryMinutes } }: Pick<AlarmSettings, 'api' | 'deployment'>): number =>
  canaryMinutes === 0 ? 0 : api.privateIngress === undefined ? 6 : 4

const dollars = (usd: number): string => usd.toFixed(usd < 0.1 ? 4 : 2)
const table = (lines: readonly Line[]): string =>
  [...lines, { name: 'total', usd: total(lines), how: '' }]
    .map(({ name, usd, how, isOptional }) =>
      `  ${`${name}${isOptional === true ? ' *' : ''}`.padEnd(18)}${dollars(usd).padStart(10)}  ${how}`.trimEnd(),
    )
    .join('\n')

export function costText(report: ReturnType<typeof costReport>): string {
  const { usage, turns, wake, month, peers, sandboxTime } = report
  const sandboxOnly = turns.lines.filter(({ name }) => ['start', 'run', 'idle hold'].includes(name))
  const rows = [
    { name: 'Cellblock', usd: total(sandboxOnly), how: 'start, run and idle hold, from above' },
    { name: 'E2B', usd: peers.e2b, how: 'allocated CPU and memory while held' },
    { name: 'AgentCore', usd: peers.agentcore, how: 'consumed CPU, memory while held' },
    { name: 'OpenAI', usd: peers.openai, how: 'containers per minute, at least five' },
  ]
  const bare = [
    { name: 'Cellblock', usd: sandboxTime.ours, how: '' },
    { name: 'E2B', usd: sandboxTime.peers.e2b, how: '' },
    { name: 'AgentCore', usd: sandboxTime.peers.agentcore, how: '' },
    { name: 'OpenAI', usd: sandboxTime.peers.openai, how: '' },
  ]
  const row = ({ name, usd, how }: Line): string => `  ${name.padEnd(16)}${dollars(usd).padStart(10)}  ${how}`.trimEnd()
  return `${[
    `List prices of ${report.region} in US dollars, read on ${report.asOf}, without model tokens and taxes.`,
    `${usage.turns} turns, ${usage.turnsPerContainer} in each container of tier ${usage.tier} on ${usage.architecture}, ${usage.runSeconds} s of code each:`,
    table(turns.lines),
    wake,
    'An idle month with the settings of cdk.json:',
    table(month.lines),
    `These settings: ${dollars(month.total)} US dollars. Without the lines marked *, which settings remove or use determines: ${dollars(month.base)}.`,
    'The sandboxes of the same turns at other providers:',
    rows.map(row).join('\n'),
    `Bare sandbox time, ${usage.turns} × ${usage.runSeconds} s in sequence, without idle time:`,
    bare.map(row).join('\n'),
    [...new Set(Object.values(PEER_PRICES).map(({ source, readOn }) => `  ${source} (${readOn})`))].join('\n'),
  ].join('\n\n')}\n`
}

if (import.meta.main)
  await runOperation(COST_USAGE, async (args) => {
    const flags = readFlags(args, FLAGS, ['json'])
    const config = readConfig(await readCdkConfig())
    const report = costReport(usageFrom(flags, config), config)
    process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : costText(report))
    if (typeof flags.html === 'string') process.stderr.write(`${await writeHtmlReport(flags.html, costHtml(report))}\n`)
    return 0
  })
