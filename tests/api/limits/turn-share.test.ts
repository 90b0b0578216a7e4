import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryQueue } from '../../../services/adapters/storage/memory-queue/memory-queue.ts'
import { createModelCatalogue } from '../../../services/adapters/models/catalogue.ts'
import { startWorkers, type Workers } from '../../../services/entries/local/workers.ts'
import { newId } from '../../../services/model/ids.ts'
import { notifyResponse } from '../../../services/operations/notify/notify-response.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { createTurnStep } from '../../../services/workers/turn/turn-step.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { say, startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const SLOW_TURNS = 40
const thinking = Promise.withResolvers<undefined>()
let api: TestApi
let upstream: ScriptedUpstream
let workers: Workers
const queue = new MemoryQueue()

/** The workers of the server for one machine, and a model that thinks about `slow` until the test ends. */
beforeAll(async () => {
  upstream = await startScriptedUpstream((request) =>
    JSON.stringify(request.body.messages).includes('slow') ? { ...say('late'), gate: thinking.promise } : say('pong'),
  )
  api = await startApi({ models: ['scripted'] })
  const model = {
    name: 'scripted',
    baseUrl: upstream.baseUrl,
    apiKey: 'sk-scripted',
    upstreamName: 'upstream-model',
    contextWindow: 16_000,
    fencesCode: null,
    readsImages: null,
  }
  const common = { ...api, queue, clock: systemClock, telemetry: silentTelemetry, workerId: newId('worker') }
  const turn = createTurnStep({ ...common, models: createModelCatalogue({ openAi: null, models: [model] }), tools: [] })
  workers = startWorkers({
    consumer: queue,
    telemetry: silentTelemetry,
    reconciler: { ...common, driver: noSandboxes, poolSizes: {}, maxStarts: 1, costPerSecond: () => 0, hibernateAfterMs: 300_000 },
    steps: {
      turns: async (message) => (message.type === 'response.step' ? turn(message) : undefined),
      executions: async () => undefined,
      placements: async () => undefined,
    },
  })
})
afterAll(async () => {
  thinking.resolve(undefined)
  await workers.stop(10_000)
  await Promise.all([api.stop(), upstream.stop()])
})

async function ask(key: TestKey, input: string): Promise<string> {
  const { id } = await api.openai(key).responses.create({ model: 'scripted', input, background: true })
  await notifyResponse(queue, { tenant: key.tenant, id })
  return id
}

it('answers a tenant while 40 turns of another wait for their model', async () => {
  for (let n = 0; n < SLOW_TURNS; n++) await ask(api.owner, `slow ${n}`)
  await expect.poll(() => upstream.requests.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(32)
  const id = await ask(api.otherTenant, 'ping')
  await expect.poll(async () => (await api.openai(api.otherTenant).responses.retrieve(id)).output_text, { timeout: 5_000 }).toBe('pong')
})
