import * as z from 'zod'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { EXECUTION_REASONS, EXECUTION_STATUSES } from '../../../model/executions/execution.ts'
import { EXECUTION_LANGUAGES } from '../../../model/executions/language.ts'
import { DEFAULT_PAGE, queryInteger } from '../../../http/schemas.ts'
import type { ExecutionSummary as Summary } from '../../../operations/executions/recent-executions.ts'

const MAX_RECENT = 100

/** The query of routes that list the newest executions. */
export const RecentQuery = lazySchema(() =>
  z.strictObject({ limit: queryInteger(1, MAX_RECENT, `Executions, ${DEFAULT_PAGE} by default.`).optional() }),
)

const time = lazySchema(() => z.string().openapi({ format: 'date-time' }))

const ExecutionSummary = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('execution'),
      container_id: z.string(),
      subject: z.string().nullable().openapi({ description: 'The end user whose key ran it.' }),
      language: z.enum(EXECUTION_LANGUAGES),
      status: z.enum(EXECUTION_STATUSES),
      reason: z.enum(EXECUTION_REASONS).nullable(),
      created_at: time(),
      started_at: time().nullable(),
      ended_at: time().nullable(),
      metadata: z.record(z.string(), z.string()),
    })
    .openapi('ExecutionSummary'),
)

export const ExecutionSummaries = answerSchema(() =>
  z.object({ object: z.literal('list'), data: z.array(ExecutionSummary()) }).openapi('ExecutionSummaryList'),
)

const iso = (at: number): string => new Date(at).toISOString()

export const renderSummaries = (rows: readonly Summary[]): Described<typeof ExecutionSummaries> => ({
  object: 'list',
  data: rows.map(({ id, containerId, subject, language = 'python', status, reason, createdAt, startedAt, endedAt, metadata }) => ({
    ...{ id, object: 'execution' as const, container_id: containerId, subject, language, status, reason },
    created_at: iso(createdAt),
    started_at: startedAt === null ? null : iso(startedAt),
    ended_at: endedAt === null ? null : iso(endedAt),
    metadata,
  })),
})
