import { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import type { Config } from '../../../infra/config.ts'
import { openCallsOf } from '../../../infra/environments.ts'
import type { MemoryTier } from '../../../services/model/limits.ts'
import { vcpusOf } from '../../../services/adapters/drivers/fargate/sizes.ts'
import type { CheckName } from '../check-names.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'

export interface Quota {
  readonly what: CheckName
  readonly service: string
  readonly code: string
  readonly unit: string
  /** Below `min` the service is unusable; below `recommended` the settings cannot be used in full. */
  readonly min: number
  readonly recommended: number
  readonly why: string
}

/** Functions that AWS keeps out of every reservation. */
const UNRESERVED = 100

/** Quotas that the settings need. */
export const quotasFor = (config: Pick<Config, 'sandboxes' | 'concurrency' | 'api' | 'deployment'>): readonly Quota[] => [
  ...fargateQuotas(config),
  lambdaQuota(config),
  ...buildQuotas(config),
]

function fargateQuotas({ sandboxes }: Pick<Config, 'sandboxes'>): readonly Quota[] {
  const tiers = Object.entries(sandboxes.tiers) as [MemoryTier, { readonly warm: number; readonly vcpu?: number }][]
  const vcpus = tiers.map(([tier, { vcpu }]) => vcpusOf(tier, vcpu))
  const warm = tiers.reduce((sum, [tier, settings]) => sum + vcpusOf(tier, settings.vcpu) * settings.warm, 0)
  const biggest = Math.max(...vcpus)
  const smallest = Math.min(...vcpus)
  const spot = sandboxes.spotPercent / 100
  // Recommends ten containers besides the pool, and at least one of the largest tier.
  const sizes = (share: number) => ({ min: (warm + biggest) * share, recommended: (warm + Math.max(biggest, 10 * smallest)) * share })
  const quota = { service: 'fargate', unit: 'vCPUs' } as const
  const onDemand: Quota = {
    ...quota,
    what: 'Fargate vCPUs',
    code: 'L-3032A538',
    ...sizes(1 - spot),
    why: 'the warm pool and a few containers',
  }
  const onSpot: Quota = { ...quota, what: 'Fargate Spot vCPUs', code: 'L-36FBB829', ...sizes(spot), why: 'the share of sandboxes on Spot' }
  return [...(spot < 1 ? [onDemand] : []), ...(spot > 0 ? [onSpot] : [])]
}

const lambdaQuota = ({ concurrency, api }: Pick<Config, 'concurrency' | 'api'>): Quota => ({
  what: 'Lambda concurrency',
  service: 'lambda',
  code: 'L-B99A9384',
  unit: 'functions at once',
  // With a reservation AWS keeps 100 functions for all others and refuses the deployment otherwise.
  min: api.reservedConcurrency === undefined ? 10 : api.reservedConcurrency + UNRESERVED,
  recommended: concurrency.chat + concurrency.run + concurrency.place + openCallsOf(api) + 2,
  why: 'chat, run and place steps and open calls, as cdk.json allows them',
})

/** AWS counts builds on ARM under other codes. */
const buildQuotas = ({ deployment, sandboxes }: Pick<Config, 'deployment' | 'sandboxes'>): readonly Quota[] =>
  deployment.imageBuilder === 'docker' || sandboxes.architecture === 'ARM64'
    ? []
    : [
        {
          what: 'CodeBuild builds',
          service: 'codebuild',
          code: 'L-2DC20C30',
          unit: 'builds at once',
          min: 1,
          recommended: sandboxes.images.length,
          why: 'the images of the sandboxes, which wait for each other with fewer',
        },
      ]

export function evaluateQuota({ what, code, unit, min, recommended, why }: Quota, value: number): Finding {
  const current = `${value} ${unit}`
  const advice = `Request more in Service Quotas (${code}).`
  if (value < min) return fail(what, `${current}; at least ${Math.ceil(min)} are needed for ${why}. ${advice}`)
  if (value < recommended) return warn(what, `${current}; ${Math.ceil(recommended)} would serve ${why}. ${advice}`)
  return ok(what, current)
}

/** Reads each quota of the account. A quota that cannot be read is a warning: a missing permission is no missing quota. */
export async function checkQuotas(client: ServiceQuotasClient, quotas: readonly Quota[]): Promise<readonly Finding[]> {
  return Promise.all(
    quotas.map(async (quota) => {
      try {
        return evaluateQuota(quota, await readQuota(client, quota))
      } catch (error) {
        return warn(
          quota.what,
          `could not be read (${error instanceof Error ? error.name : String(error)}): see Service Quotas, ${quota.code}.`,
        )
      }
    }),
  )
}

/** AWS lists only its default for a value that was never changed. */
async function readQuota(client: ServiceQuotasClient, { service: ServiceCode, code: QuotaCode }: Quota): Promise<number> {
  const { Quota: found } = await client.send(new GetServiceQuotaCommand({ ServiceCode, QuotaCode })).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'NoSuchResourceException')
      return client.send(new GetAWSDefaultServiceQuotaCommand({ ServiceCode, QuotaCode }))
    throw error
  })
  return found?.Value ?? 0
}
