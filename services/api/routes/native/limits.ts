import { z } from '@hono/zod-openapi'
import { LEASE_MS } from '../../../core/lease.ts'
import { LIMITS, MEMORY_TIERS, TIERS } from '../../../core/limits.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'

const Limits = z
  .object({
    object: z.literal('limits'),
    limits: z.record(
      z.string(),
      z.object({
        value: z.number(),
        unit: z.string(),
        used: z.number().nullable().openapi({ description: 'Null where it is counted per call or per container, not per key.' }),
      }),
    ),
    memory_limits: z.array(z.object({ memory_limit: z.enum(MEMORY_TIERS), memory_bytes: z.int() })),
    recovery_ms: z.int().openapi({ description: 'How long a crashed worker can hold a job up.' }),
  })
  .openapi('Limits')

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/Bytes$/, 'bytes'],
  [/Seconds$/, 'seconds'],
  [/Minutes$/, 'minutes'],
  [/Hours$/, 'hours'],
  [/Days$/, 'days'],
]

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const unitOf = (name: string): string => UNITS.find(([ending]) => ending.test(name))?.[1] ?? 'count'

export const limitsRoute = defineRoute({
  method: 'get',
  path: '/v1/limits',
  operationId: 'getLimits',
  tag: 'Service',
  summary: 'Every limit that applies to this key',
  answers: { 200: { description: 'Sizes in bytes, times by their unit.', schema: Limits } },
  handle: () =>
    json(200, {
      object: 'limits',
      limits: Object.fromEntries(
        Object.entries(LIMITS).map(([name, value]) => [snakeCase(name), { value, unit: unitOf(name), used: null }]),
      ),
      memory_limits: MEMORY_TIERS.map((tier) => ({ memory_limit: tier, memory_bytes: TIERS[tier].memoryBytes })),
      recovery_ms: LEASE_MS,
    }),
})
