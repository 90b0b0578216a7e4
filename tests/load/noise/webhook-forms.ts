import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { post, repeat, type Hostile, type HostileForm } from './hostile-forms.ts'

const ENDPOINTS = 20
/** Ten responses per second for twenty endpoints are a thousand times as many deliveries as silent endpoints let through. */
const EVERY_MS = 100

/** Endpoints that accept each request and never answer. */
async function addSilentEndpoints(hostile: Hostile): Promise<void> {
  const silent = createServer(() => undefined)
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  for (let index = 0; index < ENDPOINTS; index++)
    await post(hostile, '/v1/webhook_endpoints', {
      name: `silent ${index}`,
      url: `http://127.0.0.1:${port}/${index}`,
      event_types: ['response.completed'],
    })
}

const respond = (hostile: Hostile): Promise<unknown> => post(hostile, '/v1/responses', { model: 'demo', input: 'x', background: true })

/** The first is the control of the last: what both have in common is the load of turns. */
export const WEBHOOK_FORMS: readonly HostileForm[] = [
  {
    name: 'webhooks: control',
    load: 'no endpoint, and 8 callers whose responses end without a pause',
    probes: ['webhook'],
    isAlone: true,
    start: (hostile) => repeat(8, () => respond(hostile)),
  },
  {
    name: 'webhooks: ten events per second',
    load: '20 endpoints that never answer, and ten responses per second',
    probes: ['webhook'],
    isAlone: true,
    async start(hostile) {
      await addSilentEndpoints(hostile)
      setInterval(() => void respond(hostile).catch(() => undefined), EVERY_MS)
    },
  },
  {
    name: 'webhooks: events without a pause',
    load: '20 endpoints that never answer, and 8 callers whose responses end without a pause',
    probes: ['webhook'],
    isAlone: true,
    async start(hostile) {
      await addSilentEndpoints(hostile)
      repeat(8, () => respond(hostile))
    },
  },
]
