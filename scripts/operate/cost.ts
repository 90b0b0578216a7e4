// `npm run cost`: the cost of turns, of an idle month, and of the same turns at other providers.
import { readConfig, type Config } from '../../infra/config.ts'
import { costAtPeers, costOfMonth, costOfSandboxTime, costOfTurns, total, TYPICAL, type Line, type Usage } from './cost-model.ts'
import { MEMORY_TIERS } from '../../services/core/limits.ts'
import { PEER_PRICES } from './peer-prices.ts'
import { PRICES_AS_OF, PRICES_REGION } from '../../services/core/usage/fargate-prices.ts'
import { readCdkConfig } from './cdk-config.ts'
import { numberOption, choiceOption, readFlags, runOperation, type Flags } from './flags.ts'

export const COST_USAGE = `Usage: npm run cost -- [--turns 1000] [--per-container 5] [--run 2] [--gap 60] [--idle 300] [--start 57] [--model 6]
                       [--tier 1g] [--architecture X86_64|ARM64] [--spot 0] [--json]

  --turns          chat turns, each with one run of code
  --per-container  turns of one conversation, in one container
  --run, --gap     seconds that code runs in a turn; seconds between two turns
  --idle           seconds without use after which a container is hibernated and its sandbox stopped
  --start          seconds that a start takes on Fargate
  --model          seconds of model time in a turn
  --tier           1g, 4g, 16g or 64g
  --spot           percent of sandboxes on Spot

Defaults come from cdk.json (architecture, Spot, pools, zones) and from a typical conversation.
`

const FLAGS = ['turns', 'per-container', 'run', 'gap', 'idle', 'start', 'model', 'tier', 'architecture', 'spot'] as const

/** Throws UsageError. */
export function usageFrom(flags: Flags<(typeof FLAGS)[number]>, config: Pick<Config, 'sandboxes'>): Usage {
  const { architecture, spotPercent } = config.sandboxes
  return {
    ...TYPICAL,
    turns: numberOption(flags, 'turns', TYPICAL.turns, { min: 1 }),
    turnsPerContainer: numberOption(flags, 'per-container', TYPICAL.turnsPerContainer, { min: 1 }),
    runSeconds: numberOption(flags, 'run', TYPICAL.runSeconds),
    gapSeconds: numberOption(flags, 'gap', TYPICAL.gapSeconds),
    idleSeconds: numberOption(flags, 'idle', TYPICAL.idleSeconds),
    startSeconds: numberOption(flags, 'start', TYPICAL.startSeconds),
    modelSeconds: numberOption(flags, 'model', TYPICAL.modelSeconds),
    tier: choiceOption(flags, 'tier', MEMORY_TIERS, TYPICAL.tier),
    architecture: choiceOption(flags, 'architecture', ['X86_64', 'ARM64'] as const, architecture),
    spotShare: numberOption(flags, 'spot', spotPercent, { max: 100 }) / 100,
  }
}

/** The command's output as data. */
export function costReport(usage: Usage, config: Config) {
  const pool = Object.fromEntries(Object.entries(config.sandboxes.tiers).map(([tier, { warm }]) => [tier, warm]))
  const turns = costOfTurns(usage)
  const month = costOfMonth({
    endpointZones: config.network.endpointZones,
    alarmMetrics: alarmMetrics(Object.values(pool).filter((warm) => warm > 0).length),
    pool,
    architecture: usage.architecture,
    spotShare: usage.spotShare,
  })
  return {
    asOf: PRICES_AS_OF,
    region: PRICES_REGION,
    usage,
    turns: { lines: turns, total: total(turns) },
    month: { lines: month, total: total(month) },
    peers: costAtPeers(usage),
    sandboxTime: costOfSandboxTime(usage),
    peerPrices: PEER_PRICES,
  }
}

/** Number of alarm metrics in the templates: with pools, one more for cold starts and one per pool. */
export const alarmMetrics = (pools: number): number => 28 + (pools === 0 ? 0 : 1 + pools)

const dollars = (usd: number): string => usd.toFixed(usd < 0.1 ? 4 : 2)
const table = (lines: readonly Line[]): string =>
  [...lines, { name: 'total', usd: total(lines), how: '' }]
    .map(({ name, usd, how }) => `  ${name.padEnd(16)}${dollars(usd).padStart(10)}  ${how}`.trimEnd())
    .join('\n')

export function costText(report: ReturnType<typeof costReport>): string {
  const { usage, turns, month, peers, sandboxTime } = report
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
    'An idle month with the settings of cdk.json:',
    table(month.lines),
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
    return 0
  })
