import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { newId } from '../../../services/model/ids.ts'
import { finishResponse, textItem } from '../../support/finish-response.ts'
import { collectSse } from '../../support/read-sse.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import type { ResponseItem } from '../../../services/model/responses/items/item-types.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** The last accepted turn. The wide event of a plain call is emitted only with its reply. */
async function accepted(): Promise<string> {
  let id: string | undefined
  await expect
    .poll(
      async () =>
        (id = (await api.table.due(Date.now() + 60_000, 100)).findLast((row) => row.kind === 'response' && !seen.has(row.id))?.id),
      { interval: 5 },
    )
    .toBeDefined()
  seen.add(id ?? '')
  return id ?? ''
}
const seen = new Set<string>()

it('returns a plain turn when it has ended', async () => {
  const answer = api.openai().responses.create({ model: 'demo', input: 'Hi', metadata: { a: 'b' } })
  await finishResponse(api, api.owner.tenant, await accepted())
  const response = await answer
  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'demo',
    background: false,
    metadata: { a: 'b' },
    error: null,
    previous_response_id: null,
  })
  expect(response.output_text).toBe('Hello')
})

it('returns a background turn at once, and its result when it is done', async () => {
  const client = api.openai()
  const queued = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  expect(queued).toMatchObject({ status: 'queued', background: true, output: [] })
  seen.add(queued.id)
  await finishResponse(api, api.owner.tenant, queued.id)
  expect(await client.responses.retrieve(queued.id)).toMatchObject({ id: queued.id, status: 'completed', output_text: 'Hello' })
})

it("streams a turn as OpenAI's client expects it", async () => {
  const stream = await api.openai().responses.create({ model: 'demo', input: 'Hi', stream: true })
  await finishResponse(api, api.owner.tenant, await accepted())
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3])
  expect(events.map((event) => event.type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_text.delta',
    'response.completed',
  ])
  expect(events.at(-1)).toMatchObject({ response: { status: 'completed', output: [{ content: [{ text: 'Hello' }] }] } })
})

it('resumes a stream after a sequence number and ends it with [DONE]', async () => {
  const client = api.openai()
  const { id } = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  await finishResponse(api, api.owner.tenant, id)
  const types = []
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: 1 })) types.push(event.type)
  expect(types).toEqual(['response.output_text.delta', 'response.completed'])
  const frames = await collectSse(await api.fetch(`/v1/responses/${id}?stream=true`))
  expect(frames.map((frame) => frame.event)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_text.delta',
    'response.completed',
    null,
  ])
  expect(frames.at(-1)?.data).toBe('[DONE]')
  expect(JSON.parse(frames[0]?.data ?? '')).toMatchObject({ type: 'response.created', sequence_number: 0 })
})

it('streams the end of a turn whose worker crashed before it wrote the event', async () => {
  const { id } = await api.openai().responses.create({ model: 'demo', input: 'Hi', background: true })
  const now = Date.now()
  const acquired = await api.table.responses.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  await api.table.responses.commit(
    { tenant: api.owner.tenant, id, fence: acquired.row.fence },
    {
      status: 'failed',
      error: { code: 'server_error', message: 'Lost.' },
      completedAt: now,
    },
  )
  const frames = await collectSse(await api.fetch(`/v1/responses/${id}?stream=true`))
  expect(frames.map((frame) => frame.event)).toEqual(['response.failed', null])
  expect(JSON.parse(frames[0]?.data ?? '')).toMatchObject({
    sequence_number: 0,
    response: { id, status: 'failed', error: { code: 'server_error' } },
  })
})

it('includes the outputs of a call on request', async () => {
  const client = api.openai()
  const { id } = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  const call: ResponseItem = {
    type: 'code_interpreter_call',
    id: newId('call'),
    callId: 'c',
    containerId: 'cntr_x',
    code: 'print(1)',
    status: 'completed',
    outcome: {
      executionId: 'exec_x',
      status: 'succeeded',
      reason: null,
      logs: '1\n',
      images: [],
      files: [],
      lost: [],
      error: null,
      usage: null,
      outputs: [],
      modelText: '1',
    },
  }
  await finishResponse(api, api.owner.tenant, id, { items: [call, textItem('One')] })
  expect((await client.responses.retrieve(id)).output[0]).toMatchObject({ type: 'code_interpreter_call', code: 'print(1)', outputs: null })
  expect((await client.responses.retrieve(id, { include: ['code_interpreter_call.outputs'] })).output[0]).toMatchObject({
    outputs: [{ type: 'logs', logs: '1\n' }],
  })
})

it('keeps the settings of the interpreter tool, also in a request too large for its row', async () => {
  const client = api.openai()
  const container = await client.containers.create({ name: 'x', memory_limit: '4g' })
  const input = 'long '.repeat(100_000)
  const { id } = await client.responses.create({
    model: 'demo',
    input,
    background: true,
    tools: [{ type: 'code_interpreter', container: container.id }],
  })
  const row = await api.table.responses.get(api.owner.tenant, id)
  expect(row).toMatchObject({
    containerId: container.id,
    request: { interpreter: { containerId: container.id, memoryTier: '4g', fileIds: [] } },
  })
  expect(row?.requestRef?.bytes).toBeGreaterThan(400_000)
  const items = await client.responses.inputItems.list(id)
  expect(items.data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }])

  const auto = await client.responses.create({
    model: 'demo',
    input: 'x',
    background: true,
    tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '16g' } }],
  })
  expect((await api.table.responses.get(api.owner.tenant, auto.id))?.request.interpreter).toEqual({
    containerId: null,
    memoryTier: '16g',
    fileIds: [],
  })
})

it('lists the input items, each with an id', async () => {
  const client = api.openai()
  const input = [
    { role: 'user' as const, content: 'one' },
    { type: 'function_call' as const, call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output' as const, call_id: 'c', output: '2' },
  ]
  const { id } = await client.responses.create({ model: 'demo', input, background: true })
  const items = []
  for await (const item of client.responses.inputItems.list(id, { order: 'asc', limit: 2 })) items.push(item)
  expect(items).toMatchObject([
    { role: 'user', content: [{ text: 'one' }] },
    { type: 'function_call', name: 'f' },
    { type: 'function_call_output', output: '2' },
  ])
  expect(new Set(items.map((item) => item.id)).size).toBe(3)
})

it('cancels a background turn', async () => {
  const client = api.openai()
  const { id } = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  const cancelling = client.responses.cancel(id)
  await expect.poll(async () => (await api.table.responses.get(api.owner.tenant, id))?.cancelRequestedAt).toBeTypeOf('number')
  await finishResponse(api, api.owner.tenant, id, { status: 'cancelled', items: [] })
  expect(await cancelling).toMatchObject({ id, status: 'cancelled' })
  expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' })
})

it('deletes a turn with its events', async () => {
  const client = api.openai()
  const { id } = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  await finishResponse(api, api.owner.tenant, id)
  await client.responses.delete(id)
  await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'response_not_found' })
  expect(await api.table.events.read({ kind: 'response', tenant: api.owner.tenant, id }, -1, 10)).toEqual([])
})

it('continues a previous response', async () => {
  const client = api.openai()
  const first = await client.responses.create({ model: 'demo', input: 'Hi', background: true })
  const second = await client.responses.create({ model: 'demo', input: 'Again', background: true, previous_response_id: first.id })
  expect(second.previous_response_id).toBe(first.id)
})

it.for([
  'include=a&include=code_interpreter_call.outputs',
  'include[]=code_interpreter_call.outputs',
  'include=code_interpreter_call.outputs',
])('reads a response with ?%s, and names version and duration in headers', async (query) => {
  const { id } = await api.openai().responses.create({ model: 'demo', input: 'x', background: true })
  const answer = await api.fetch(`/v1/responses/${id}?${query}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('openai-version')).toBe('2020-10-01')
  expect(answer.headers.get('openai-processing-ms')).toMatch(/^\d+$/)
})

it('shows the input items with the fields that OpenAI sends', async () => {
  const input = [
    { role: 'user' as const, content: [{ type: 'input_image' as const, image_url: 'https://example.com/a.png', detail: 'auto' as const }] },
    { type: 'function_call' as const, call_id: 'call_1', name: 'f', arguments: '{}' },
    { type: 'function_call_output' as const, call_id: 'call_1', output: 'x' },
  ]
  const { id } = await api.openai().responses.create({ model: 'demo', input, background: true })
  const { data } = await api.openai().responses.inputItems.list(id, { order: 'asc' })
  expect(data).toMatchObject([
    { type: 'message', status: 'completed', content: [{ type: 'input_image', detail: 'auto' }] },
    { type: 'function_call', status: 'completed' },
    { type: 'function_call_output', status: 'completed' },
  ])
})
