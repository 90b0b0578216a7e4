import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { listOf, listSchema, pageOf, StrictListQuery } from '../../../http/schemas.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { listDeadLetters } from '../../../operations/dead-letters/list-dead-letters.ts'
import { redriveDeadLetter } from '../../../operations/dead-letters/redrive-dead-letter.ts'
import { liveTenantOf, tenantOf } from './tenants.ts'

const DeadLetterObject = answerSchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('dead_letter'),
      container_id: z.string(),
      ended_at: z.string(),
      may_have_run: z.boolean().openapi({ description: 'Whether its code was sent to a sandbox.' }),
      trace_id: z.string().nullable(),
    })
    .openapi('DeadLetter'),
)

const renderDeadLetter = (row: Execution): Described<typeof DeadLetterObject> => ({
  id: row.id,
  object: 'dead_letter',
  container_id: row.containerId,
  ended_at: new Date(row.endedAt ?? row.createdAt).toISOString(),
  may_have_run: row.sandboxId !== null,
  trace_id: row.traceparent?.split('-')[1] ?? null,
})

const listDeadLettersRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/tenants/{tenant_id}/dead_letters',
  auth: 'session',
  scope: 'admin',
  operationId: 'listDeadLetters',
  tag: 'Administration',
  summary: 'List executions that ended as dead letters',
  description: 'By container. Every container of the tenant is read until the page is full.',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of dead letters.', schema: listSchema(DeadLetterObject, 'DeadLetterList') } },
  errors: ['tenant_not_found'],
  async handle({ deps, param, query }) {
    const { id } = await tenantOf(deps, param('tenant_id'))
    const page = await listDeadLetters(deps.table, id, pageOf(query))
    return json(200, listOf(page.rows.map(renderDeadLetter), page.hasMore))
  },
})

const Redrive = lazySchema(() =>
  z.strictObject({
    may_have_run: z.boolean().optional().openapi({ description: 'Whether to accept code again that was sent to a sandbox.' }),
  }),
)
const Redriven = answerSchema(() =>
  z.object({ id: z.string(), object: z.enum(['execution', 'response']), redriven_from: z.string() }).openapi('RedrivenJob'),
)

const redriveRoute = defineRoute({
  method: 'post',
  path: '/v1/admin/tenants/{tenant_id}/dead_letters/{job_id}/redrive',
  auth: 'session',
  scope: 'admin',
  operationId: 'redriveDeadLetter',
  tag: 'Administration',
  summary: 'Accept an execution or a response that ended as a dead letter again',
  description: 'Under a new id. A second call gives the same id and accepts nothing.',
  body: Redrive,
  answers: { 202: { description: 'The new job.', schema: Redriven } },
  errors: [
    ...(['tenant_not_found', 'execution_not_found', 'response_not_found', 'container_not_found', 'conversation_not_found'] as const),
    ...(['conflict', 'too_many_queued'] as const),
  ],
  async handle({ deps, param, body, note }) {
    const { id: tenant } = await liveTenantOf(deps, param('tenant_id'))
    note('target_tenant', tenant)
    const from = param('job_id')
    const id = await redriveDeadLetter(deps, { tenant, id: from, mayHaveRun: body.may_have_run === true })
    return json(202, { id, object: id.startsWith('exec_') ? 'execution' : 'response', redriven_from: from })
  },
})

export const deadLetterRoutes: readonly AnyRoute[] = [listDeadLettersRoute, redriveRoute]
