import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { LIMITS_CACHE_MS } from '../../../services/operations/tenancy/limit-reader.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ toolTypes: [['weather', 'weather_preview']] })
})
afterAll(() => api.stop())

const entries = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 1]))
const tool = (container: unknown): object => ({ model: 'demo', input: 'x', tools: [{ type: 'code_interpreter', container }] })
const cases: readonly (readonly [string, object, number, string, string | null])[] = [
  ['no model', { input: 'x' }, 400, 'invalid_request', 'model'],
  ['an unknown model', { model: 'gpt-99', input: 'x' }, 404, 'model_not_found', 'model'],
  ['no input', { model: 'demo' }, 400, 'invalid_request', 'input'],
  ['input that is a number', { model: 'demo', input: 1 }, 400, 'invalid_request', 'input'],
  ['an item without type and role', { model: 'demo', input: [{ content: 'x' }] }, 400, 'invalid_request', 'input[0]'],
  ['a million wrong items', { model: 'demo', input: Array<number>(1_000_000).fill(1) }, 400, 'invalid_json', null],
  ['too many items', { model: 'demo', input: Array<number>(200_000).fill(1) }, 400, 'invalid_request', 'input'],
  ['too many tools', { model: 'demo', input: 'x', tools: Array<number>(200_000).fill(1) }, 400, 'invalid_request', 'tools'],
  ['10,000 entries of metadata', { model: 'demo', input: 'x', metadata: entries(10_000) }, 400, 'invalid_request', 'metadata'],
  ['10,001 entries of metadata', { model: 'demo', input: 'x', metadata: entries(10_001) }, 400, 'invalid_json', null],
  [
    'reasoning that is not small',
    { model: 'demo', input: 'x', reasoning: { effort: ['x'.repeat(5_000)] } },
    400,
    'invalid_request',
    'reasoning.effort',
  ],
  ['a name of a model that is a book', { model: 'x'.repeat(1_000_000), input: 'x' }, 400, 'invalid_request', 'model'],
  ['a misspelt list of files', tool({ type: 'auto', files: ['file-1'] }), 400, 'invalid_request', 'tools[0].container.files'],
  ['a list of files in camel case', tool({ type: 'auto', fileIds: ['file-1'] }), 400, 'invalid_request', 'tools[0].container.fileIds'],
  [
    'a misspelt list of files of the shell',
    { model: 'demo', input: 'x', tools: [{ type: 'shell', environment: { type: 'container_auto', files: ['file-1'] } }] },
    400,
    'invalid_request',
    'tools[0].environment.files',
  ],
  ['an unknown tier of service', { model: 'demo', input: 'x', service_tier: 'gold' }, 400, 'invalid_request', 'service_tier'],
  [
    'an unknown time of a cache',
    { model: 'demo', input: 'x', prompt_cache_retention: 'x' },
    400,
    'invalid_request',
    'prompt_cache_retention',
  ],
  ['an unknown verbosity', { model: 'demo', input: 'x', text: { verbosity: 'loud' } }, 400, 'invalid_request', 'text.verbosity'],
  ['a part that no answer has', { model: 'demo', input: 'x', include: ['nonsense'] }, 400, 'invalid_request', 'include[0]'],
  [
    'an identifier that is too long',
    { model: 'demo', input: 'x', safety_identifier: 'x'.repeat(65) },
    400,
    'invalid_request',
    'safety_identifier',
  ],
  ['an unknown role', { model: 'demo', input: [{ role: 'robot', content: 'x' }] }, 400, 'invalid_request', 'input[0].role'],
  ['a message without content', { model: 'demo', input: [{ role: 'user' }] }, 400, 'invalid_request', 'input[0]'],
  [
    'an item that no model here reads',
    { model: 'demo', input: [{ type: 'computer_call_output' }] },
    400,
    'unsupported_value',
    'input[0].type',
  ],
  [
    'a content part that no model here reads',
    { model: 'demo', input: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    400,
    'unsupported_value',
    'input[0].content[0].type',
  ],
  [
    'an output of a function that nothing called',
    { model: 'demo', input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] },
    400,
    'invalid_request',
    'input[0].call_id',
  ],
  [
    'a choice of a function that is not offered',
    { model: 'demo', input: 'x', tool_choice: { type: 'function', name: 'f' } },
    400,
    'invalid_request',
    'tool_choice',
  ],
  ['a required tool without tools', { model: 'demo', input: 'x', tool_choice: 'required' }, 400, 'invalid_request', 'tool_choice'],
  [
    'a function name with a space',
    { model: 'demo', input: 'x', tools: [{ type: 'function', name: 'a b' }] },
    400,
    'invalid_request',
    'tools[0].name',
  ],
  [
    'a JSON schema format without a schema',
    { model: 'demo', input: 'x', text: { format: { type: 'json_schema', name: 'x' } } },
    400,
    'invalid_request',
    'text.format.schema',
  ],
  ['a stored prompt', { model: 'demo', input: 'x', prompt: { id: 'p_1' } }, 400, 'invalid_request', 'prompt'],
  ['tools that are no list', { model: 'demo', input: 'x', tools: {} }, 400, 'invalid_request', 'tools'],
  ['a tool without type', { model: 'demo', input: 'x', tools: [{}] }, 400, 'invalid_request', 'tools[0].type'],
  ['a tool that is not here', { model: 'demo', input: 'x', tools: [{ type: 'web_search' }] }, 400, 'unsupported_value', 'tools[0].type'],
  ['a function without name', { model: 'demo', input: 'x', tools: [{ type: 'function' }] }, 400, 'invalid_request', 'tools[0].name'],
  [
    'an interpreter without a container',
    { model: 'demo', input: 'x', tools: [{ type: 'code_interpreter' }] },
    400,
    'invalid_request',
    'tools[0].container',
  ],
  [
    'a choice of a tool that is not offered',
    { ...tool({ type: 'auto' }), tool_choice: { type: 'web_search' } },
    400,
    'invalid_request',
    'tool_choice',
  ],
  ['a container of another type', tool({ type: 'shared' }), 400, 'invalid_request', 'tools[0].container.type'],
  ['a container that is not there', tool('cntr_01kajv9h2s8p0ww3d4dq4cs1zt'), 404, 'container_not_found', 'tools[0].container'],
  ['a container id that is none', tool('nonsense'), 404, 'container_not_found', 'tools[0].container'],
  ['a file that is not there', tool({ type: 'auto', file_ids: ['cfile_x'] }), 404, 'file_not_found', 'tools[0].container.file_ids'],
  [
    'hosts',
    tool({ type: 'auto', network_policy: { type: 'allowlist', allowed_domains: ['a.example.com'] } }),
    400,
    'unsupported_value',
    'tools[0].container.network_policy',
  ],
  ['a temperature of 3', { model: 'demo', input: 'x', temperature: 3 }, 400, 'invalid_request', 'temperature'],
  ['a stream that is a word', { model: 'demo', input: 'x', stream: 'yes' }, 400, 'invalid_request', 'stream'],
  [
    'an unknown previous response',
    { model: 'demo', input: 'x', previous_response_id: 'resp_01kajv9h2s8p0ww3d4dq4cs1zt' },
    400,
    'previous_response_not_found',
    'previous_response_id',
  ],
  ['a background turn that is not stored', { model: 'demo', input: 'x', background: true, store: false }, 400, 'invalid_request', 'store'],
  ['an unknown conversation', { model: 'demo', input: 'x', conversation: 'conv_1' }, 404, 'conversation_not_found', 'conversation'],
  ['a conversation that is no id', { model: 'demo', input: 'x', conversation: 5 }, 400, 'invalid_request', 'conversation'],
  [
    'two histories',
    { model: 'demo', input: 'x', conversation: { id: 'conv_1' }, previous_response_id: 'resp_1' },
    400,
    'invalid_request',
    'conversation',
  ],
]
it.for(cases)('refuses %s', async ([, body, status, code, param]) => {
  const answer = await api.post('/v1/responses', body)
  const { error } = (await answer.json()) as { error: Record<string, unknown> }
  expect({ status: answer.status, code: error['code'], param: error['param'] }).toEqual({ status, code, param })
})

it('names the available models', async () => {
  await expect(api.openai().responses.create({ model: 'nope', input: 'x' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('Available: demo'),
  })
})

it('ignores unknown fields', async () => {
  const answer = await api.post('/v1/responses', {
    model: 'demo',
    input: 'x',
    background: true,
    truncation: 'auto',
    reasoning: { effort: 'low' },
    text: {},
    prompt_cache_key: 'k',
    future: { a: [1] },
  })
  expect(answer.status).toBe(200)
})

it('refuses to cancel a turn that is not in the background', async () => {
  const stop = new AbortController()
  const stream = await api.fetch('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'x', stream: true }),
    signal: stop.signal,
  })
  expect(stream.status).toBe(200)
  const id = api.events.findLast((event) => event['route'] === 'createResponse')?.['response_id']
  const answer = await api.fetch(`/v1/responses/${String(id)}/cancel`, { method: 'POST' })
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }])
  stop.abort()
})

it('replies to ids of other tenants and of unstored turns as to missing ids', async () => {
  const { id } = await api.openai().responses.create({ model: 'demo', input: 'x', background: true })
  const texts = await Promise.all(
    [
      api.fetch(`/v1/responses/${id}`, { key: api.otherTenant }),
      api.fetch('/v1/responses/resp_01kajv9h2s8p0ww3d4dq4cs1zt'),
      api.fetch('/v1/responses/nonsense'),
    ].map(async (asked) => {
      const answer = await asked
      expect(answer.status).toBe(404)
      return (await answer.text()).replaceAll(/resp_\w+|nonsense/g, 'ID').replaceAll(/req_\w+/g, 'REQ')
    }),
  )
  expect(new Set(texts).size).toBe(1)
  for (const [method, suffix] of [
    ['POST', '/cancel'],
    ['DELETE', ''],
    ['GET', '/input_items'],
    ['GET', '?stream=true'],
  ] as const)
    expect((await api.fetch(`/v1/responses/${id}${suffix}`, { method, key: api.otherTenant })).status).toBe(404)
})

it.for(['stream=1', 'starting_after=x', 'starting_after=1&starting_after=2'])('refuses to read with ?%s', async (query) => {
  const { id } = await api.openai().responses.create({ model: 'demo', input: 'x', background: true })
  expect((await api.fetch(`/v1/responses/${id}?${query}`)).status).toBe(400)
})

it.for([
  ['tool_choice', { type: 'allowed_tools', mode: 'auto', tools: Array.from({ length: 20_000 }, () => ({ type: 'function', name: 'f' })) }],
  ['instructions', 'ü'.repeat(500_000)],
  ['tools', [{ type: 'function', name: 'f', parameters: { description: 'x'.repeat(1_000_000) } }]],
] as const)('accepts %s larger than a row', async ([field, value]) => {
  const answer = await api.post('/v1/responses', {
    model: 'demo',
    input: 'x',
    background: true,
    tools: [{ type: 'function', name: 'f' }],
    [field]: value,
  })
  expect(answer.status).toBe(200)
  const { id } = (await answer.json()) as { id: string }
  const read = (await (await api.fetch(`/v1/responses/${id}`)).json()) as Record<string, unknown>
  expect({ [field]: read[field] }).toMatchObject({ [field]: value })
})

it('refuses a tool that is disabled for the tenant, including the interpreter', async () => {
  const tenant = newId('tenant')
  await api.table.tenants.create({ v: 1, id: tenant, name: 'strict', createdAt: Date.now() })
  await api.table.tenants.setPolicy(tenant, { toolsOff: ['weather', 'code_interpreter'] })
  const key = await api.newKey({ tenant })
  const ask = async (type: string, by = key): Promise<unknown> => {
    const answer = await api.post(
      '/v1/responses',
      { model: 'demo', input: 'x', background: true, tools: [{ type, container: { type: 'auto' } }] },
      { key: by },
    )
    const { error } = (await answer.json()) as { readonly error: { readonly code: string; readonly param: string } | null }
    return [answer.status, error?.code, error?.param]
  }
  expect(await ask('weather')).toEqual([400, 'unsupported_value', 'tools[0].type'])
  expect(await ask('weather_preview')).toEqual([400, 'unsupported_value', 'tools[0].type'])
  expect(await ask('code_interpreter')).toEqual([400, 'unsupported_value', 'tools[0].type'])
  expect(await ask('weather', api.owner)).toEqual([200, undefined, undefined])
  await api.table.tenants.setPolicy(tenant, { toolsOff: ['code_interpreter'] })
  // A change takes effect within ten seconds.
  api.skew += LIMITS_CACHE_MS
  expect(await ask('weather')).toEqual([200, undefined, undefined])
})
