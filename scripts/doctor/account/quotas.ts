import { GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import type { Config } from '../../../infra/config.ts'
import { TIERS, type MemoryTier } from '../../../services/core/limits.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'

interface Quota {
  readonly what: string
  readonly service: string
  readonly code: string
  readonly unit: string
  /** Below this nothing useful runs; below `wanted` the settings cannot be used to the full. */
  readonly least: number
  readonly wanted: number
  readonly why: string
}

/** What the settings ask of an account. */
export function quotasFor({ sandboxes, concurrency, api }: Pick<Config, 'sandboxes' | 'concurrency' | 'api'>): readonly Quota[] {
  const tiers = Object.entries(sandboxes.tiers) as [MemoryTier, { readonly warm: number }][]
  const vcpu = (tier: MemoryTier): number => TIERS[tier].fargateCpu / 1024
  const warm = tiers.reduce((sum, [tier, settings]) => sum + vcpu(tier) * settings.warm, 0)
  const biggest = Math.max(...tiers.map(([tier]) => vcpu(tier)))
  const smallest = Math.min(...tiers.map(([tier]) => vcpu(tier)))
  const spot = sandboxes.spotPercent / 100
  const functions = concurrency.chat + concurrency.run + concurrency.place + api.maxOpenStreams + 2
  // Ten containers besides the pool are little for anybody; one of the biggest tier must fit in any case.
  const fargate = (share: number) => ({ least: (warm + biggest) * share, wanted: (warm + Math.max(biggest, 10 * smallest)) * share })
  return [
    ...(spot < 1
      ? [
          {
            what: 'Fargate vCPUs',
            service: 'fargate',
            code: 'L-3032A538',
            unit: 'vCPUs',
            ...fargate(1 - spot),
            why: 'the warm pool and a few containers',
          },
        ]
      : []),
    ...(spot > 0
      ? [
          {
            what: 'Fargate Spot vCPUs',
            service: 'fargate',
            code: 'L-36FBB829',
            unit: 'vCPUs',
            ...fargate(spot),
            why: 'the share of sandboxes on Spot',
          },
        ]
      : []),
    {
      what: 'Lambda concurrency',
      service: 'lambda',
      code: 'L-B99A9384',
      unit: 'functions at once',
      least: 10,
      wanted: functions,
      why: 'chat, run and place steps and open streams, as cdk.json allows them',
    },
  ]
}

export function judgeQuota({ what, code, unit, least, wanted, why }: Quota, value: number): Finding {
  const says = `${value} ${unit}`
  const ask = `Ask for more in Service Quotas (${code}).`
  if (value < least) return fail(what, `${says}; at least ${Math.ceil(least)} are needed for ${why}. ${ask}`)
  return value < wanted ? warn(what, `${says}; ${Math.ceil(wanted)} would serve ${why}. ${ask}`) : ok(what, says)
}

/** Reads each quota as it applies to the account. One that cannot be read is a warning: no right to read is no lack. */
export async function checkQuotas(client: ServiceQuotasClient, quotas: readonly Quota[]): Promise<readonly Finding[]> {
  return Promise.all(
    quotas.map(async (quota) => {
      try {
        const { Quota: found } = await client.send(new GetServiceQuotaCommand({ ServiceCode: quota.service, QuotaCode: quota.code }))
        return judgeQuota(quota, found?.Value ?? 0)
      } catch (error) {
        return warn(
          quota.what,
          `could not be read (${error instanceof Error ? error.name : String(error)}): look in Service Quotas, ${quota.code}.`,
        )
      }
    }),
  )
}
