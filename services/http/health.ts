import * as z from 'zod'
import { answerSchema, lazySchema } from '../model/lazy-schema.ts'
import { json } from './responses.ts'
import { defineRoute, type AnyRoute } from './route.ts'

const Part = lazySchema(() => z.object({ ok: z.boolean(), detail: z.string().optional() }))
const Readiness = answerSchema(() => z.object({ ok: z.boolean(), parts: z.record(z.string(), Part()) }).openapi('Readiness'))

const healthRoute = defineRoute({
  method: 'get',
  path: '/healthz',
  auth: 'public',
  operationId: 'getHealth',
  tag: 'Service',
  summary: 'Liveness probe',
  answers: { 200: { description: 'The process is running.', schema: () => z.object({ status: z.literal('ok') }) } },
  handle: () => json(200, { status: 'ok' }),
})

const readinessRoute = defineRoute({
  method: 'get',
  path: '/readyz',
  auth: 'public',
  operationId: 'getReadiness',
  tag: 'Service',
  summary: 'Readiness probe',
  description: 'Checks the table, the queue, the object store and the driver.',
  answers: {
    200: { description: 'Every part is available.', schema: Readiness },
    503: { description: 'At least one part is unavailable. `parts` names it, with the cause in `detail`.', schema: Readiness },
  },
  async handle({ deps }) {
    const readiness = await deps.readiness()
    return json(readiness.ok ? 200 : 503, readiness)
  },
})

export const metaRoutes: readonly AnyRoute[] = [healthRoute, readinessRoute]
