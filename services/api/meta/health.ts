import { z } from '@hono/zod-openapi'
import { lazySchema } from '../http/lazy-schema.ts'
import { json } from '../http/responses.ts'
import { defineRoute, type AnyRoute } from '../http/route.ts'

const Part = lazySchema(() => z.object({ ok: z.boolean(), detail: z.string().optional() }))
const Readiness = lazySchema(() => z.object({ ok: z.boolean(), parts: z.record(z.string(), Part()) }).openapi('Readiness'))

const healthRoute = defineRoute({
  method: 'get',
  path: '/healthz',
  scope: 'public',
  operationId: 'getHealth',
  tag: 'Service',
  summary: 'Is the process alive?',
  answers: { 200: { description: 'It answers.', schema: () => z.object({ status: z.literal('ok') }) } },
  handle: () => json(200, { status: 'ok' }),
})

const readinessRoute = defineRoute({
  method: 'get',
  path: '/readyz',
  scope: 'public',
  operationId: 'getReadiness',
  tag: 'Service',
  summary: 'Can it take work?',
  description: 'Asks the table, the queue, the object store and the driver.',
  answers: {
    200: { description: 'Every part answers.', schema: Readiness },
    503: { description: 'The parts that do not are named.', schema: Readiness },
  },
  async handle({ deps }) {
    const readiness = await deps.readiness()
    return json(readiness.ok ? 200 : 503, readiness)
  },
})

export const metaRoutes: readonly AnyRoute[] = [healthRoute, readinessRoute]
