import { withStores } from '../../support/with-stores.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResponseIncludable, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { chatConfigFromEnv } from '../../../services/adapters/models/config.ts'
import { createModelCatalogue } from '../../../services/adapters/models/catalogue.ts'
import { createTurnStep } from '../../../services/workers/turn/turn-step.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import type { ResponseEvent } from '../../../services/model/events.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

let api: TestApi
let step: (responseId: string, executionWaitMs?: number) => Promise<void>
beforeAll(async () => {
  api = await startApi()
  const models = createModelCatalogue(chatConfigFromEnv({}))
  const deps = { ...api, clock: systemClock, telemetry: silentTelemetry, models, workerId: 'wrk_test' }
  step = (responseId, executionWaitMs = 0) =>
    createTurnStep({ ...deps, executionWaitMs })({ v: 1, type: 'response.step', tenant: api.owner.tenant, responseId })
})
afterAll(() => api.stop())

const request = {
  model: 'demo',
  input: '```python\nslow()\n```',
  tools: [{ type: 'code_interpreter' as const, container: { type: 'auto' as const } }],
  background: true,
  include: ['x_cellblock.events' as ResponseIncludable],
}

/** A response with running code, with or without a waiting worker, and the later output of its execution. */
async function running(change: { readonly background?: boolean } = {}, stays = false) {
  const { id } = await api.openai().responses.create({ ...request, ...change })
  const working = step(id, stays ? 60_000 : 0)
  if (!stays) await working
  const accepted = async () => (await api.table.executions.get(api.owner.tenant, (await pendingOf(id))?.executionId ?? ''))?.id
  await expect.poll(accepted).toBeTypeOf('string')
  const pending = await pendingOf(id)
  if (!pending) throw new Error('No code is running')
  const owner = { kind: 'execution', tenant: api.owner.tenant, id: pending.executionId } as const
  let seq = 1
  const event = (text: string, type: 'stdout' | 'stderr' = 'stdout'): ExecutionEvent => ({
    seq: seq++,
    at: Date.now(),
    type,
    cell: 0,
    text,
  })
  return {
    id,
    /** The model's answer after the code. */
    resume: () => (stays ? working : step(id)),
    print: async (...texts: readonly string[]) => {
      const events = texts.map((text) => event(text))
      await api.table.events.append(owner, { firstSeq: events[0]?.seq ?? 0, events, fence: 1, sourceSeq: null })
    },
    end: async (...texts: readonly string[]) => {
      const tail = texts.map((text) => event(text, 'stderr'))
      await finishExecution(api, api.owner.tenant, pending.executionId, { tail, doneSeq: seq++ })
    },
  }
}

const pendingOf = async (id: string) => (await api.table.responses.get(api.owner.tenant, id))?.pending

type StreamedEvent = Pick<ResponseStreamEvent, 'type' | 'sequence_number'> & {
  readonly x_cellblock?: {
    readonly type: string
    readonly output_index: number
    readonly item_id: string
    readonly stream: string
    readonly text: string
  }
}
const isOutput = (event: StreamedEvent): boolean => event.x_cellblock?.type === 'code_interpreter_call_output'
const textOf = (event: StreamedEvent): string => (isOutput(event) ? (event.x_cellblock?.text ?? '') : '')

/** Streams a response. `until` resolves once that many events have arrived. */
function follow(id: string, after = -1) {
  const events: StreamedEvent[] = []
  const stop = new AbortController()
  const reading = (async () => {
    const stream = await api.openai().responses.retrieve(id, { stream: true, starting_after: after }, { signal: stop.signal })
    for await (const event of stream) events.push(event)
  })()
  return {
    events,
    printed: () => events.map(textOf).filter((text) => text !== ''),
    whole: async () => (await reading, events),
    leave: async () => {
      stop.abort()
      await reading.catch(() => undefined)
    },
  }
}

describe('the output of running code', () => {
  it.each([{ stays: false }, { stays: true }])('is streamed while the code runs, with final sequence numbers (%o)', async ({ stays }) => {
    const code = await running({}, stays)
    const reader = follow(code.id)
    await code.print('one\n', 'two\n')
    await expect.poll(reader.printed, { timeout: 10_000 }).toEqual(['one\n', 'two\n'])
    await code.print('three\n')
    await expect.poll(reader.printed, { timeout: 10_000 }).toEqual(['one\n', 'two\n', 'three\n'])
    expect(reader.events.map((event) => event.type)).not.toContain('response.code_interpreter_call.completed')
    await code.end('four\n')
    await code.resume()
    const events = await reader.whole()
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
    expect(reader.printed()).toEqual(['one\n', 'two\n', 'three\n', 'four\n'])
    expect(events.findLastIndex(isOutput)).toBeLessThan(
      events.findIndex((event) => event.type === 'response.code_interpreter_call.completed'),
    )
    expect(events.find(isOutput)?.x_cellblock).toMatchObject({ output_index: 0, item_id: expect.stringMatching(/^ci_/), stream: 'stdout' })
    // A later reader receives the same events.
    expect(await follow(code.id).whole()).toEqual(events)
  })

  it('continues after the last received event when a connection breaks', async () => {
    const code = await running()
    const first = follow(code.id)
    await code.print('a', 'b')
    await expect.poll(first.printed, { timeout: 10_000 }).toEqual(['a', 'b'])
    await first.leave()
    const last = first.events.at(-2)?.sequence_number ?? 0
    const second = follow(code.id, last)
    await expect.poll(second.printed, { timeout: 10_000 }).toEqual(['b'])
    await code.print('c')
    await code.end()
    await step(code.id)
    const rest = await second.whole()
    expect(second.printed()).toEqual(['b', 'c'])
    expect(rest.map((event) => event.sequence_number)).toEqual(rest.map((_, i) => last + 1 + i))
  })

  it.each([{ stays: false }, { stays: true }])('stays in order when the turn is cancelled (%o)', async ({ stays }) => {
    const code = await running({}, stays)
    const reader = follow(code.id)
    await code.print('before')
    await expect.poll(reader.printed, { timeout: 10_000 }).toEqual(['before'])
    await code.print('unseen')
    const cancelling = api.openai().responses.cancel(code.id)
    await expect.poll(async () => (await api.table.responses.get(api.owner.tenant, code.id))?.cancelRequestedAt).toBeTypeOf('number')
    await code.resume()
    await cancelling
    const events = await reader.whole()
    expect(reader.printed()).toEqual(['before', 'unseen'])
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
    expect(events.slice(-2).map((event) => event.type)).toEqual(['response.output_item.done', 'response.incomplete'])
    expect(events.at(-1)).toMatchObject({ response: { status: 'cancelled' } })
  })

  it('is accepted by the stream helpers of the official client', async () => {
    const code = await running()
    const helper = api.openai().responses.stream({ response_id: code.id })
    const seen: number[] = []
    const reading = (async () => {
      for await (const event of helper) seen.push(event.sequence_number)
    })()
    await code.print('one')
    await code.end('two')
    await step(code.id)
    await reading
    expect(seen).toEqual(seen.map((_, i) => i))
    expect(await helper.finalResponse()).toMatchObject({ id: code.id, status: 'completed' })
  })

  it('is truncated at the size limit of a stream', async () => {
    const code = await running()
    await code.print(...Array.from({ length: 50 }, () => 'x'.repeat(4_000)))
    await code.end()
    await step(code.id)
    const reader = follow(code.id)
    const events = await reader.whole()
    expect(reader.printed().join('').length).toBe(64_000)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
  })

  it('is not repeated when a step crashes after it has written it', async () => {
    const code = await running()
    await code.print('once')
    await code.end()
    const outputEvents = async () =>
      (await api.table.events.read<ResponseEvent>({ kind: 'response', tenant: api.owner.tenant, id: code.id }, -1, 100)).filter(
        ({ data }) => JSON.stringify(data).includes('code_interpreter_call_output'),
      )
    const models = createModelCatalogue(chatConfigFromEnv({}))
    const dying = createTurnStep({
      ...api,
      table: withStores(api.table, { responses: { ...api.table.responses, commit: () => Promise.reject(new Error('crashed')) } }),
      clock: systemClock,
      telemetry: silentTelemetry,
      models: {
        ...models,
        find: (id) => {
          const model = models.find(id)
          return model === null
            ? null
            : {
                ...model,
                chat: {
                  // oxlint-disable-next-line require-yield
                  async *stream() {
                    await expect.poll(async () => (await outputEvents()).length).toBe(1)
                    throw new Error('crashed')
                  },
                },
              }
        },
      },
      workerId: 'wrk_dying',
    })
    await expect(dying({ v: 1, type: 'response.step', tenant: api.owner.tenant, responseId: code.id })).rejects.toThrow('crashed')
    const row = await api.table.responses.get(api.owner.tenant, code.id)
    await api.table.responses.commit({ tenant: api.owner.tenant, id: code.id, fence: row?.fence ?? 0 }, {}, { release: true })
    await step(code.id)
    expect(await outputEvents()).toHaveLength(1)
    const events = await follow(code.id).whole()
    expect(events.filter(isOutput)).toHaveLength(1)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
  })
})
