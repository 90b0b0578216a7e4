import { METRIC_NAMES } from '../../../services/model/metrics.ts'
import type { MemoryTier } from '../../../services/model/limits.ts'
import { PRICES } from '../aws-prices.ts'
import { HOURS_A_MONTH, sandboxHour } from './sandbox-cost.ts'
import { gb } from './turn-cost.ts'
import type { Line, Usage } from './usage.ts'

/** The standing resources of a deployment. */
export interface IdleDeployment {
  readonly endpointZones: number
  readonly alarmMetrics: number
  /** Further alarm metrics, of canary deployments. */
  readonly canaryMetrics?: number
  readonly uploadService: boolean
  readonly networkGateway: boolean
  /** Tasks of the API behind an internal load balancer; undefined: a distribution and a function. */
  readonly privateIngress?: { readonly tasks: number } | undefined
  /** A web ACL with a rate rule. */
  readonly rateLimit?: boolean
  /** Warm sandboxes by tier. */
  readonly pool: Partial<Record<MemoryTier, number>>
  /** vCPUs of a sandbox by tier, if they are not those of the tier. */
  readonly vcpus?: Partial<Record<MemoryTier, number>>
  readonly architecture: Usage['architecture']
  readonly diskGiB: number
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
export function costOfMonth(deployment: IdleDeployment): readonly Line[] {
  const { uploadService, networkGateway, privateIngress, rateLimit = false, canaryMetrics = 0 } = deployment
  const pools = (Object.entries(deployment.pool) as [MemoryTier, number][]).filter(([, count]) => count > 0)
  return [
    ...accountMonth(deployment),
    ...(canaryMetrics > 0 ? [canaryMonth(canaryMetrics)] : []),
    ...reconcilerMonth(),
    metricsMonth(pools.length),
    ...(uploadService ? [uploadServiceMonth()] : []),
    ...(networkGateway ? [networkGatewayMonth()] : []),
    ...(privateIngress === undefined ? [] : [privateIngressMonth(privateIngress)]),
    ...(rateLimit ? [rateLimitMonth()] : []),
    { name: 'images', usd: 0.65 * PRICES.ecrGbMonth.usd, how: 'one build of slim (150 MB) and standard (500 MB)' },
    ...pools.map(([tier, count]) => poolMonth(tier, count, deployment)),
  ]
}

const accountMonth = ({ endpointZones, alarmMetrics }: IdleDeployment): readonly Line[] => [
  {
    name: 'endpoints',
    usd: ENDPOINTS * endpointZones * PRICES.endpointHour.usd * HOURS_A_MONTH,
    how: `${ENDPOINTS} interface endpoints in ${endpointZones} zone${endpointZones === 1 ? '' : 's'}`,
  },
  { name: 'key and secrets', usd: PRICES.kmsKeyMonth.usd + 2 * PRICES.secretMonth.usd, how: 'one key, model keys, origin secret' },
  { name: 'alarms', usd: alarmMetrics * PRICES.alarmMonth.usd, how: `${alarmMetrics} alarm metrics` },
]

const canaryMonth = (metrics: number): Line => ({
  name: 'canary alarms',
  usd: metrics * PRICES.alarmMonth.usd,
  how: `${metrics} alarm metrics; deployment.canaryMinutes: 0 saves them`,
  isOptional: true,
})

const reconcilerMonth = (): readonly Line[] => [
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
]

const metricsMonth = (pools: number): Line => ({
  name: 'metrics',
  usd: 2 * pools * PRICES.metricMonth.usd,
  how: `two per pool; ${METRIC_NAMES.length} in a month with traffic in every hour, ${(METRIC_NAMES.length * PRICES.metricMonth.usd).toFixed(2)} US dollars`,
  isOptional: true,
})

const rateLimitMonth = (): Line => ({
  name: 'rate limit',
  usd: PRICES.webAclMonth.usd + PRICES.webAclRuleMonth.usd,
  how: 'a web ACL with one rule, and 0.60 US dollars a million requests',
  isOptional: true,
})

const poolMonth = (
  tier: MemoryTier,
  count: number,
  { architecture, spotShare, diskGiB, vcpus = {} }: Pick<IdleDeployment, 'architecture' | 'spotShare' | 'diskGiB' | 'vcpus'>,
): Line => ({
  name: `pool ${tier}`,
  usd: count * sandboxHour({ tier, architecture, spotShare, diskGiB, vcpu: vcpus[tier] }) * HOURS_A_MONTH,
  how: `${count} warm`,
  isOptional: true,
})

/** One ARM task, its public address, and the load balancer. */
function uploadServiceMonth(): Line {
  const task = 0.25 * PRICES.fargateArmVcpuHour.usd + 2 * PRICES.fargateArmGbHour.usd
  const hour = task + PRICES.loadBalancerHour.usd + PRICES.publicAddressHour.usd
  return {
    name: 'upload service',
    usd: hour * HOURS_A_MONTH,
    how: 'bodies above 4.4 MB, one task; up to three while it is busy',
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

/** Consistent reads of the list of containers, and renewals of the lease. */
const GATEWAY_READS_A_SECOND = 4
const GATEWAY_WRITES_A_SECOND = 0.2
const SECONDS_A_MONTH = HOURS_A_MONTH * 3600

/** The smallest ARM task, its public address, its secret, and what it asks of the table while it waits. */
function networkGatewayMonth(): Line {
  const task = 0.25 * PRICES.fargateArmVcpuHour.usd + 0.5 * PRICES.fargateArmGbHour.usd
  const requests =
    (SECONDS_A_MONTH *
      (GATEWAY_READS_A_SECOND * PRICES.dynamodbMillionReads.usd + GATEWAY_WRITES_A_SECOND * PRICES.dynamodbMillionWrites.usd)) /
    1e6
  return {
    name: 'network gateway',
    usd: (task + PRICES.publicAddressHour.usd) * HOURS_A_MONTH + PRICES.secretMonth.usd + requests,
    how: 'one task, its public address, its keys, its reads of the table; traffic to the internet is extra',
    isOptional: true,
  }
}
