import * as z from 'zod'
import { answerSchema } from '../../../model/lazy-schema.ts'
import { json } from '../../../http/responses.ts'
import type { ApiConfig } from '../../../http/config.ts'
import { defineRoute, type Call, type AnyRoute } from '../../../http/route.ts'
import { LEASE_MS } from '../../../jobs/lease.ts'
import { LIMITS, MEMORY_TIERS, TIERS } from '../../../model/limits.ts'
import { usedLimits } from '../../../operations/tenancy/used-limits.ts'
import { snakeCase } from '../../../model/snake-case.ts'
import { languagesOf } from '../../../model/containers/images.ts'
import { isBiggerTier } from '../../../model/tenants/tenant-limits.ts'

const Limits = answerSchema(() =>
  z
    .object({
      object: z.literal('limits'),
      limits: z.record(
        z.string(),
        z.object({
          value: z.number(),
          unit: z.string(),
          used: z.number().nullable().openapi({
            description:
              'Now, or today for limits per day. Null where it is counted per call or per container, not per key. For containers, jobs and bytes it is an upper bound: they are counted again when it reaches the limit.',
          }),
        }),
      ),
      memory_limits: z.array(z.object({ memory_limit: z.enum(MEMORY_TIERS), memory_bytes: z.int() })),
      images: z.array(z.string()).openapi({ description: 'Images that a container may name; the first is the default.' }),
      languages: z.record(z.string(), z.array(z.string())).openapi({ description: 'Languages of each image.' }),
      recovery_ms: z.int().openapi({ description: 'Maximum delay of a job whose worker crashed, milliseconds.' }),
    })
    .openapi('Limits'),
)

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/Bytes$/, 'bytes'],
  [/Seconds$/, 'seconds'],
  [/Minutes$/, 'minutes'],
  [/Hours$/, 'hours'],
  [/Days$/, 'days'],
]

const unitOf = (name: string): string => UNITS.find(([ending]) => ending.test(name))?.[1] ?? 'count'

/** The fixed limits, overridden by the limits of this account. */
async function figures({
  deps,
  caller,
}: Pick<Call, 'deps' | 'caller'>): Promise<Record<string, { value: number; unit: string; used: number | null }>> {
  const [{ memoryLimit: _, ...own }, policy, ownUse, held] = await Promise.all([
    deps.limits.of(caller.tenant),
    deps.limits.policyOf(caller.tenant),
    usedLimits(deps, caller.tenant),
    deps.holds.used(caller.tenant),
  ])
  const everybody = {
    ...LIMITS,
    maxTimeoutSeconds: own.timeoutSeconds,
    defaultTimeoutSeconds: Math.min(LIMITS.defaultTimeoutSeconds, own.timeoutSeconds),
    maxFileBytes: own.fileBytes,
    maxFilesPerExecution: own.filesPerExecution,
    maxOpenStreams: deps.config.openCalls ?? deps.config.maxOpenStreams,
    retentionDays: own.containerDays,
    linkDays: policy.linkDays ?? LIMITS.linkDays,
    ...limitsBeforeApi(deps.config.requestBytes),
  }
  const used: Readonly<Record<string, number | null>> = { ...ownUse, maxOpenStreams: held.all }
  return Object.fromEntries(
    Object.entries({ ...everybody, ...own }).map(([name, value]) => [
      snakeCase(name),
      { value, unit: unitOf(name), used: used[name] ?? null },
    ]),
  )
}

/** Size of a form without its file, bytes. */
const FORM_BYTES = 8_192

/** A multipart form and a part of an upload are one request each, so the limits of a proxy apply to them too. */
function limitsBeforeApi(bytes: ApiConfig['requestBytes']): Partial<Record<keyof typeof LIMITS, number>> {
  if (bytes === null) return {}
  const { maxJsonBytes, maxMultipartFileBytes, maxUploadPartBytes } = LIMITS
  return {
    maxJsonBytes: Math.min(maxJsonBytes, bytes.json),
    maxMultipartFileBytes: Math.min(maxMultipartFileBytes, bytes.binary - FORM_BYTES),
    maxUploadPartBytes: Math.min(maxUploadPartBytes, bytes.binary - FORM_BYTES),
  }
}

const limitsRoute = defineRoute({
  method: 'get',
  path: '/v1/limits',
  auth: 'session',
  scope: 'read',
  operationId: 'getLimits',
  tag: 'Service',
  summary: 'Every limit that applies to this key',
  answers: { 200: { description: 'Sizes in bytes, times by their unit. A changed policy shows here within ten seconds.', schema: Limits } },
  handle: async (call) => {
    const { deps, caller } = call
    const [{ memoryLimit }, policy] = await Promise.all([deps.limits.of(caller.tenant), deps.limits.policyOf(caller.tenant)])
    const { name: defaultImage } = deps.images.resolve(policy.image)
    const tiers = deps.config.memoryTiers.filter((tier) => !isBiggerTier(tier, memoryLimit))
    return json(200, {
      object: 'limits',
      limits: await figures(call),
      memory_limits: tiers.map((tier) => ({ memory_limit: tier, memory_bytes: TIERS[tier].memoryBytes })),
      images: [defaultImage, ...deps.images.names.filter((name) => name !== defaultImage)],
      languages: Object.fromEntries(deps.images.names.map((name) => [name, [...languagesOf(name)]])),
      recovery_ms: LEASE_MS,
    })
  },
})

export const limitRoutes: readonly AnyRoute[] = [limitsRoute]
