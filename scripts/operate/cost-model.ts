import { FUNCTION_MEMORY_MIB, type FunctionId } from '../../infra/function-name.ts'
import { METRIC_NAMES } from '../../services/core/metrics.ts'
import { TIERS, type MemoryTier } from '../../services/core/limits.ts'
import { PEER_COST, PEERS, type Peer, type PeerSession } from './peer-prices.ts'
import { PRICES } from './aws-prices.ts'

export const HOURS_A_MONTH = 730
/** Fargate's minimum billing time of a task. */
const MIN_TASK_SECONDS = 60
/** Spot's discount moves with demand; AWS says "up to 70 %". */
const SPOT_SHARE_OF_PRICE = 0.3

/** How the service is used. Seconds and counts are averages. */
export interface Usage {
  readonly turns: number
  /** Turns in one container, in sequence. */
  readonly turnsPerContainer: number
  /** Run time of the code in a turn. */
  readonly runSeconds: number
  /** Between two turns of a conversation. */
  readonly gapSeconds: number
  /** An unused container is hibernated after this time, and its sandbox stopped. */
  readonly idleSeconds: number
  /** Start time of a sandbox: Fargate bills from the image pull. */
  readonly startSeconds: number
  /** Model time in a turn: two Lambda functions wait for it. */
  readonly modelSeconds: number
  /** Files and results of a turn, MB, and their retention in days. */
  readonly storedMb: number
  readonly storedDays: number
  readonly tier: MemoryTier
  readonly architecture: 'X86_64' | 'ARM64'
  /** Share of sandboxes on Spot, 0 to 1. */
  readonly spotShare: number
  /** Average cores while code runs, and peak memory in GB: some providers bill by these. */
  readonly cores: number
  readonly memoryGb: number
}

export const TYPICAL: Usage = {
  turns: 1_000,
  turnsPerContainer: 5,
  runSeconds: 2,
  gapSeconds: 60,
  idleSeconds: 300,
  startSeconds: 57,
  modelSeconds: 6,
  storedMb: 0.2,
  storedDays: 30,
  tier: '1g',
  architecture: 'X86_64',
  spotShare: 0,
  cores: 0.5,
  memoryGb: 0.5,
}

/**
 * Billed units of one turn with one execution. Measured on a live container: 11 writes, 7 reads, 9 queue requests. A write also updates an
 * index; an API call that waits polls the row up to twice a second; the chat worker polls ten times in the second for which it waits.
 */
const PER_TURN = {
  dynamodbWrites: 23,
  dynamodbReads: 48,
  sqsRequests: 12,
  s3Puts: 2,
  s3Gets: 1,
  kmsRequests: 2,
  lambdaInvocations: 5,
  logKb: 6,
  /** Rows and events of a turn, kept as long as its files. */
  tableKb: 40,
  /** What the distribution sends to the client. */
  answerKb: 60,
  /** Queue messages of the run worker, which pass an interface endpoint. */
  endpointKb: 10,
}
/** Names that Fargate and the run worker resolve in the isolated network for one sandbox. */
const DNS_QUERIES_PER_START = 12
/** The chat worker waits at most this long for an execution before it ends its invocation. */
const CHAT_WAIT_SECONDS = 1
/** A start is one call to ECS; an event completes it, so no function waits for the task. */
const PLACE_SECONDS = 1
const gb = (name: FunctionId): number => FUNCTION_MEMORY_MIB[name] / 1024

export interface Line {
  readonly name: string
  readonly usd: number
  readonly how: string
  /** Of an idle month: a setting removes it, or it depends on use. */
  readonly isOptional?: true
}

/** One hour of a sandbox, US dollars. */
export function sandboxHour({ tier, architecture, spotShare }: Pick<Usage, 'tier' | 'architecture' | 'spotShare'>): number {
  const { fargateCpu, fargateMemoryMiB } = TIERS[tier]
  const [vcpu, gb] =
    architecture === 'ARM64' ? [PRICES.fargateArmVcpuHour, PRICES.fargateArmGbHour] : [PRICES.fargateX86VcpuHour, PRICES.fargateX86GbHour]
  const onDemand = (fargateCpu / 1024) * vcpu.usd + (fargateMemoryMiB / 1024) * gb.usd
  return onDemand * (1 - spotShare * (1 - SPOT_SHARE_OF_PRICE))
}

/** Billed seconds of one container's sandbox, by purpose. */
function sandboxSeconds(usage: Usage): { readonly start: number; readonly run: number; readonly hold: number; readonly starts: number } {
  const { turnsPerContainer: turns, runSeconds, gapSeconds, idleSeconds, startSeconds } = usage
  const run = turns * runSeconds
  // A pause longer than the idle time stops the sandbox; the next turn restores the container in another one.
  const sleeps = gapSeconds > idleSeconds
  const starts = sleeps ? turns : 1
  const hold = sleeps ? turns * idleSeconds : (turns - 1) * gapSeconds + idleSeconds
  const billedMinimum = Math.max(0, MIN_TASK_SECONDS * starts - run - hold - startSeconds * starts)
  return { start: startSeconds * starts, run, hold: hold + billedMinimum, starts }
}

/** The cost of the turns, line by line, US dollars, without model tokens. */
export function costOfTurns(usage: Usage): readonly Line[] {
  const { turns, modelSeconds, runSeconds, storedMb, storedDays } = usage
  const containers = turns / usage.turnsPerContainer
  const seconds = sandboxSeconds(usage)
  const hour = sandboxHour(usage)
  const sandbox = (name: string, each: number, how: string): Line => ({ name, usd: (containers * each * hour) / 3600, how })
  const times = (count: number, usd: number, per: number) => (turns * count * usd) / per
  const waitSeconds = modelSeconds + runSeconds
  const gbSeconds =
    gb('api') * waitSeconds +
    gb('chat') * (modelSeconds + Math.min(runSeconds, CHAT_WAIT_SECONDS)) +
    gb('run') * runSeconds +
    (gb('place') * PLACE_SECONDS * seconds.starts) / usage.turnsPerContainer
  const requests =
    times(PER_TURN.dynamodbWrites, PRICES.dynamodbMillionWrites.usd, 1e6) +
    times(PER_TURN.dynamodbReads, PRICES.dynamodbMillionReads.usd, 1e6) +
    times(PER_TURN.sqsRequests, PRICES.sqsMillionRequests.usd, 1e6) +
    times(PER_TURN.s3Puts, PRICES.s3ThousandPuts.usd, 1e3) +
    times(PER_TURN.s3Gets, PRICES.s3ThousandGets.usd, 1e3) +
    times(PER_TURN.kmsRequests, PRICES.kmsTenThousandRequests.usd, 1e4) +
    times(1, PRICES.cloudfrontTenThousandRequests.usd, 1e4) +
    times(PER_TURN.logKb, PRICES.logsGb.usd + PRICES.logsGbMonth.usd, 1e6) +
    times(PER_TURN.answerKb, PRICES.cloudfrontGb.usd, 1e6) +
    times(PER_TURN.endpointKb, PRICES.endpointGb.usd, 1e6) +
    times((DNS_QUERIES_PER_START * seconds.starts) / usage.turnsPerContainer, PRICES.dnsFirewallMillionQueries.usd, 1e6)
  const rows = (turns * PER_TURN.tableKb * storedDays * (PRICES.dynamodbGbMonth.usd + PRICES.dynamodbBackupGbMonth.usd)) / 1e6 / 30
  return [
    sandbox('start', seconds.start, `${round(seconds.start)} s for each of ${round(containers)} containers, from the pull of the image`),
    sandbox('run', seconds.run, `${round(seconds.run)} s of code per container`),
    sandbox('idle hold', seconds.hold, `${round(seconds.hold)} s between turns and until hibernation, per container`),
    {
      name: 'functions',
      usd: times(gbSeconds, PRICES.lambdaArmGbSecond.usd, 1) + times(PER_TURN.lambdaInvocations, PRICES.lambdaMillionRequests.usd, 1e6),
      how: `${round(gbSeconds)} GB-seconds per turn, mostly waiting for the model`,
    },
    { name: 'requests', usd: requests, how: 'table, queues, objects, keys, distribution, endpoints, DNS firewall, logs' },
    {
      name: 'storage',
      usd: (turns * storedMb * storedDays * PRICES.s3GbMonth.usd) / 1024 / 30 + rows,
      how: `${storedMb} MB of files and ${PER_TURN.tableKb} KB of rows with their backups a turn, for ${storedDays} days`,
    },
  ]
}

/** The standing resources of a deployment. */
export interface IdleDeployment {
  readonly endpointZones: number
  readonly alarmMetrics: number
  /** Further alarm metrics, of canary deployments. */
  readonly canaryMetrics?: number
  readonly uploadService: boolean
  /** Tasks of the API behind an internal load balancer; undefined: a distribution and a function. */
  readonly privateIngress?: { readonly tasks: number } | undefined
  /** A web ACL with a rate rule. */
  readonly rateLimit?: boolean
  /** Warm sandboxes by tier. */
  readonly pool: Partial<Record<MemoryTier, number>>
  readonly architecture: Usage['architecture']
  readonly spotShare: number
}

/** Interface endpoints per zone: ECR API, ECR registry, SQS. */
const ENDPOINTS = 3
/** Requests of Lambda's pollers on three empty queues, five per queue with 20 s each. */
const POLLS_A_MONTH = 2_000_000
const RECONCILER_RUNS = 43_800
/** Dead-letter queues: each pass asks each once. */
const DEAD_LETTER_QUEUES = 3

/** The cost of an idle month, line by line, US dollars. */
export function costOfMonth({
  endpointZones,
  alarmMetrics,
  canaryMetrics = 0,
  uploadService,
  privateIngress,
  rateLimit = false,
  pool,
  architecture,
  spotShare,
}: IdleDeployment): readonly Line[] {
  const warm = (Object.entries(pool) as [MemoryTier, number][]).filter(([, count]) => count > 0)
  return [
    {
      name: 'endpoints',
      usd: ENDPOINTS * endpointZones * PRICES.endpointHour.usd * HOURS_A_MONTH,
      how: `${ENDPOINTS} interface endpoints in ${endpointZones} zone${endpointZones === 1 ? '' : 's'}`,
    },
    { name: 'key and secrets', usd: PRICES.kmsKeyMonth.usd + 2 * PRICES.secretMonth.usd, how: 'one key, model keys, origin secret' },
    { name: 'alarms', usd: alarmMetrics * PRICES.alarmMonth.usd, how: `${alarmMetrics} alarm metrics` },
    ...(canaryMetrics > 0
      ? [
          {
            name: 'canary alarms',
            usd: canaryMetrics * PRICES.alarmMonth.usd,
            how: `${canaryMetrics} alarm metrics; deployment.canaryMinutes: 0 saves them`,
            isOptional: true as const,
          },
        ]
      : []),
    {
      name: 'polling',
      usd: ((POLLS_A_MONTH + DEAD_LETTER_QUEUES * RECONCILER_RUNS) * PRICES.sqsMillionRequests.usd) / 1e6,
      how: 'Lambda polls three queues all day; the reconciler asks three dead-letter queues once a minute',
    },
    {
      name: 'reconciler',
      usd:
        RECONCILER_RUNS *
        (0.3 * gb('reconciler') * PRICES.lambdaArmGbSecond.usd +
          PRICES.lambdaMillionRequests.usd / 1e6 +
          9 * (PRICES.dynamodbMillionReads.usd / 1e6)),
      how: 'once a minute, 0.3 s and nine reads',
    },
    {
      name: 'metrics',
      usd: 2 * warm.length * PRICES.metricMonth.usd,
      how: `two per pool; ${METRIC_NAMES.length} in a month with traffic in every hour, ${(METRIC_NAMES.length * PRICES.metricMonth.usd).toFixed(2)} US dollars`,
      isOptional: true,
    },
    ...(uploadService ? [uploadServiceMonth()] : []),
    ...(privateIngress === undefined ? [] : [privateIngressMonth(privateIngress)]),
    ...(rateLimit
      ? [
          {
            name: 'rate limit',
            usd: PRICES.webAclMonth.usd + PRICES.webAclRuleMonth.usd,
            how: 'a web ACL with one rule, and 0.60 US dollars a million requests',
            isOptional: true as const,
          },
        ]
      : []),
    { name: 'images', usd: 0.65 * PRICES.ecrGbMonth.usd, how: 'one build of slim (150 MB) and standard (500 MB)' },
    ...warm.map(([tier, count]) => ({
      name: `pool ${tier}`,
      usd: count * sandboxHour({ tier, architecture, spotShare }) * HOURS_A_MONTH,
      how: `${count} warm`,
      isOptional: true as const,
    })),
  ]
}

/** One ARM task, its public address, and the load balancer. */
function uploadServiceMonth(): Line {
  const task = 0.25 * PRICES.fargateArmVcpuHour.usd + PRICES.fargateArmGbHour.usd
  const hour = task + PRICES.loadBalancerHour.usd + PRICES.publicAddressHour.usd
  return {
    name: 'upload service',
    usd: hour * HOURS_A_MONTH,
    how: 'bodies above 4.4 MB; api.uploadService: false saves it',
    isOptional: true,
  }
}

/** ARM tasks of 0.5 vCPU and 2 GB, and the load balancer. The tasks answer every request, so turns cost no API function. */
function privateIngressMonth({ tasks }: { readonly tasks: number }): Line {
  const task = 0.5 * PRICES.fargateArmVcpuHour.usd + 2 * PRICES.fargateArmGbHour.usd
  const usd = (tasks * task + PRICES.loadBalancerHour.usd) * HOURS_A_MONTH
  return {
    name: 'private ingress',
    usd,
    how: `internal load balancer, ${tasks} task${tasks === 1 ? '' : 's'}; your NAT or endpoints are extra`,
    isOptional: true,
  }
}

export const total = (lines: readonly Line[]): number => lines.reduce((sum, { usd }) => sum + usd, 0)

/** The same turns at each provider by its own rules, without model tokens and without the caller's own compute. */
export function costAtPeers(usage: Usage): Readonly<Record<Peer, number>> {
  const { run, hold } = sandboxSeconds({ ...usage, startSeconds: 0 })
  const session: PeerSession = { runSeconds: run, heldSeconds: run + hold, cores: usage.cores, memoryGb: usage.memoryGb }
  const containers = usage.turns / usage.turnsPerContainer
  return Object.fromEntries(PEERS.map((peer) => [peer, containers * PEER_COST[peer](session)])) as Record<Peer, number>
}

/**
 * Bare sandbox time: the turns in sequence in a running sandbox, without starts, pauses and requests, here and at each provider.
 */
export function costOfSandboxTime(usage: Usage): { readonly ours: number; readonly peers: Readonly<Record<Peer, number>> } {
  const runSeconds = usage.turns * usage.runSeconds
  const session: PeerSession = { runSeconds, heldSeconds: runSeconds, cores: usage.cores, memoryGb: usage.memoryGb }
  return {
    ours: (runSeconds * sandboxHour(usage)) / 3600,
    peers: Object.fromEntries(PEERS.map((peer) => [peer, PEER_COST[peer](session)])) as Record<Peer, number>,
  }
}

const round = (value: number): number => Math.round(value * 10) / 10
