import * as z from 'zod'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import type { PriceList } from '../../../model/usage/price-list.ts'
import type { UsageSum } from '../../../model/usage/usage.ts'
import type { UsageReport } from '../../../operations/usage/read-usage.ts'

const date = lazySchema(() =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'give a date such as 2026-11-21')
    .refine((text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text), 'give a date that there is'),
)

export const UsageQuery = lazySchema(() =>
  z.strictObject({
    from: date().optional().openapi({ description: 'First day, UTC; 30 days before `to` by default.', example: '2026-11-01' }),
    to: date().optional().openapi({ description: 'Last day, UTC; today by default.', example: '2026-11-21' }),
  }),
)

const Sum = lazySchema(() =>
  z.object({
    executions: z.int(),
    sandbox_seconds: z.number().openapi({ description: 'Seconds for which containers held a sandbox.' }),
    cpu_seconds: z.number().openapi({ description: 'Processor time of whole sandboxes, with programs in the background.' }),
    peak_memory_bytes: z.int().openapi({ description: 'The highest memory use of a single execution.' }),
    output_bytes: z.int(),
    cost_usd: z
      .number()
      .openapi({ description: "Sandbox seconds at list prices: an estimate, and 0 on one machine. The bill is the provider's." }),
    model_input_tokens: z.int().openapi({ description: 'Tokens that responses sent to models, counted when a response has ended.' }),
    model_output_tokens: z.int(),
    network_requests: z.int().openapi({ description: 'Requests of code to hosts; refused ones too.' }),
    network_refused: z.int(),
    network_bytes: z.int().openapi({ description: 'Bytes of these requests in both directions.' }),
  }),
)

export const Usage = answerSchema(() =>
  z
    .object({
      object: z.literal('usage'),
      from: z.string(),
      to: z.string(),
      days: z.array(Sum().extend({ date: z.string() })).openapi({ description: 'Days with usage, the earliest first.' }),
      total: Sum(),
      prices_as_of: z.string(),
      prices_region: z.string(),
    })
    .openapi('Usage'),
)

const renderSum = (sum: UsageSum): Described<typeof Sum> => ({
  executions: sum.executions,
  sandbox_seconds: rounded(sum.sandboxSeconds, 3),
  cpu_seconds: rounded(sum.cpuMs / 1000, 3),
  peak_memory_bytes: sum.peakMemoryBytes,
  output_bytes: sum.outputBytes,
  cost_usd: rounded(sum.costUsd, 9),
  model_input_tokens: sum.modelInputTokens,
  model_output_tokens: sum.modelOutputTokens,
  network_requests: sum.networkRequests,
  network_refused: sum.networkRefused,
  network_bytes: sum.networkBytes,
})

export const renderUsage = ({ from, to, days, total }: UsageReport, { asOf, region }: PriceList): Described<typeof Usage> => ({
  object: 'usage',
  from,
  to,
  days: days.map(({ date: day, sum }) => ({ date: day, ...renderSum(sum) })),
  total: renderSum(total),
  prices_as_of: asOf,
  prices_region: region,
})

/** Rounds sums, whose last digits are floating-point noise. */
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
