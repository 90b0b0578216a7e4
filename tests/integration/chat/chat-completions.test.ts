import type OpenAI from 'openai'
import type { ChatCompletionChunk, ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions'
import { describe, expect, it } from 'vitest'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder } = fixture
const messages = [{ role: 'user' as const, content: 'Go' }]
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}
const complete = (change: Partial<ChatCompletionCreateParamsNonStreaming> = {}) =>
  fixture.client.chat.completions.create({ model: 'scripted', messages, ...change })
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body
const toolNames = () => (sent()?.tools ?? []).map((tool) => tool.function.name)

/** The extension of Cellblock on an answer. */
const extensionOf = (answer: object) => (answer as { readonly x_cellblock: Readonly<Record<string, unknown>> }).x_cellblock

async function streamed(change: Partial<ChatCompletionCreateParamsNonStreaming> & { stream_options?: { include_usage: boolean } } = {}) {
  const chunks: ChatCompletionChunk[] = []
  const stream = await fixture.client.chat.completions.create({ model: 'scripted', messages, ...change, stream: true })
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('a chat completion', () => {
  it('answers with text, usage and a finish reason', async () => {
    inOrder(say('Hello there.'))
    expect(await complete()).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'scripted',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there.', refusal: null } }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 40 } },
    })
  })

  it('offers the code interpreter unless the request has tools, or none are wanted', async () => {
    inOrder(say('Hello.'))
    await complete()
    expect(toolNames()).toEqual(['python'])
    await complete({ tools: [] })
    expect(toolNames()).toEqual([])
    await complete({ tools: [weather] })
    expect(toolNames()).toEqual(['get_weather'])
    await complete({ tool_choice: 'none' })
    expect(toolNames()).toEqual([])
  })

  it('runs code, joins the texts around it, and names the container for the next request', async () => {
    inOrder({ deltas: [{ content: 'Let me see.' }, ...runPython('print(1)').deltas], finish: 'tool_calls' }, say('It printed 1.'))
    const answer = await complete()
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Let me see.\n\nIt printed 1.' } })
    const { container_id: container } = extensionOf(answer)
    expect(container).toMatch(/^cntr_/)

    inOrder(runPython('print(2)'), say('Done.'))
    const tools = [{ type: 'code_interpreter', container }] as unknown as ChatCompletionCreateParamsNonStreaming['tools'] & object
    expect(extensionOf(await complete({ tools }))['container_id']).toBe(container)
  })

  it('reports to the model that a picture of the code is not displayed', async () => {
    const shown = { output_type: 'display_data' as const, data: { 'image/png': 'iVBORw0KGgo=' }, metadata: {} }
    fixture.worked.runs(() => ({ result: { cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [shown] }] } }))
    inOrder(runPython('plot()'), say('Done.'))
    await complete()
    const toolMessages = () => JSON.stringify(sent()?.messages.filter(({ role }) => role === 'tool'))
    expect(toolMessages()).toContain('the user does not see this picture: save it to a file in /mnt/data')
    inOrder(runPython('plot()'), say('Done.'))
    await fixture.ask({ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] })
    expect(toolMessages()).toContain('a picture is shown to the user')
  })

  it("passes the caller's functions, and continues with their outputs", async () => {
    inOrder(call({ name: 'get_weather', arguments: '{"city":"Rome"}' }))
    const first = await complete({ tools: [weather], tool_choice: { type: 'function', function: { name: 'get_weather' } } })
    expect(sent()?.tool_choice).toEqual({ type: 'function', function: { name: 'get_weather' } })
    const [choice] = first.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const [wanted] = choice?.message.tool_calls ?? []
    if (choice === undefined || wanted === undefined) throw new Error('no call')
    expect(wanted).toMatchObject({ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } })

    inOrder(say('Sunny.'))
    const second = await complete({
      tools: [weather],
      messages: [...messages, choice.message, { role: 'tool', tool_call_id: wanted.id, content: '25 degrees' }],
    })
    expect(second.choices[0]?.message.content).toBe('Sunny.')
    expect(sent()?.messages).toMatchObject([
      { role: 'user', content: 'Go' },
      { role: 'assistant', tool_calls: [{ id: wanted.id }] },
      { role: 'tool', tool_call_id: wanted.id, content: '25 degrees' },
    ])
  })

  it('passes the response format, the effort and the limits to the model, and names what has no effect', async () => {
    inOrder(say('{"a":1}'))
    const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false }
    const answer = await complete({
      response_format: { type: 'json_schema', json_schema: { name: 'one', schema, strict: true } },
      max_completion_tokens: 50,
      reasoning_effort: 'low',
      seed: 4,
      tools: [],
    })
    expect(sent()).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'one', strict: true, schema } },
      max_tokens: 50,
      reasoning_effort: 'low',
    })
    expect(extensionOf(answer)['dropped_parameters']).toEqual(['seed'])
  })

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ])('ends with the finish reason %s of the model', async (reason, expected) => {
    inOrder({ deltas: [{ content: 'Half' }], finish: reason })
    expect((await complete()).choices[0]).toMatchObject({ finish_reason: expected, message: { content: 'Half' } })
  })

  it('answers with an error when the model fails', async () => {
    inOrder({ deltas: [], status: 400, error: { message: 'The model is broken.' } })
    await expect(complete()).rejects.toThrow(/502 .*The model is broken/)
    await expect(streamed()).rejects.toThrow(/The model is broken/)
  })

  it('asks the model again when the client retries a failure', async () => {
    const failure = { deltas: [], status: 400, error: { message: 'The model is busy.' } }
    inOrder(failure, failure, say('Now it works.'))
    const answer = await fixture.client.chat.completions.create({ model: 'scripted', messages }, { maxRetries: 2 })
    expect(answer.choices[0]?.message.content).toBe('Now it works.')
    expect(fixture.worked.upstream.requests).toHaveLength(3)
  })

  it.each([
    [{ n: 2 }, 'n'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0].type'],
    [{ functions: [] }, 'functions'],
    [{ model: 'missing' }, 'model'],
  ])('refuses %j and names the parameter', async (change, param) => {
    const answer = await fixture.worked.api.post('/v1/chat/completions', { model: 'scripted', messages, ...change })
    expect(await answer.json()).toMatchObject({ error: { param } })
    expect([400, 404]).toContain(answer.status)
  })
})

describe('a streamed chat completion', () => {
  it('has the deltas of the text, a finish reason and the usage', async () => {
    inOrder(runPython('print(1)'), say('It printed 1.'))
    const chunks = await streamed({ stream_options: { include_usage: true } })
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null })
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('It printed 1.')
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 } })
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1)
  })

  it("has the caller's calls as OpenAI's helper assembles them", async () => {
    inOrder(call({ name: 'get_weather', arguments: '{"city":"Rome"}' }, { name: 'get_weather', arguments: '{"city":"Oslo"}' }))
    const stream = fixture.client.chat.completions.stream({ model: 'scripted', messages, tools: [weather] })
    const [choice] = (await stream.finalChatCompletion()).choices
    expect(choice?.finish_reason).toBe('tool_calls')
    expect(choice?.message.tool_calls?.map((one) => one.type === 'function' && one.function.arguments)).toEqual([
      '{"city":"Rome"}',
      '{"city":"Oslo"}',
    ])
  })
})

it('refuses a key without the scope to run', async () => {
  const key = await fixture.worked.api.newKey({ scopes: ['read'] })
  const client: OpenAI = fixture.worked.api.openai(key)
  await expect(client.chat.completions.create({ model: 'scripted', messages })).rejects.toMatchObject({ status: 403 })
})
