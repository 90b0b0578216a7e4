import OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming, ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture

const tools = codeTools
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Weather of a city',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body

describe("the caller's functions", () => {
  it('end the response, which continues with their output by previous_response_id or full input', async () => {
    inOrder(call({ name: 'get_weather', arguments: '{"city":"Rome"}' }), say('Sunny.'))
    const first = await ask({ tools: [weather, ...tools] })
    expect(first).toMatchObject({ status: 'completed', output_text: '' })
    const [wanted] = first.output
    if (wanted?.type !== 'function_call') throw new Error('no call')
    expect(wanted).toMatchObject({ name: 'get_weather', arguments: '{"city":"Rome"}', status: 'completed' })

    const output = { type: 'function_call_output' as const, call_id: wanted.call_id, output: '25 degrees' }
    const second = await ask({ tools: [weather], previous_response_id: first.id, input: [output] })
    expect(second.output_text).toBe('Sunny.')
    const expected = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', tool_calls: [{ id: wanted.call_id, function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }] },
      { role: 'tool', tool_call_id: wanted.call_id, content: '25 degrees' },
    ]
    expect(sent()?.messages).toMatchObject(expected)

    await ask({ tools: [weather], store: false, input: [{ role: 'user', content: 'Go' }, wanted, output] })
    expect(sent()?.messages).toMatchObject(expected)
  })

  it('stream their arguments', async () => {
    inOrder(call({ name: 'get_weather', arguments: '{"city":"Rome"}' }))
    const events: ResponseStreamEvent[] = []
    for await (const event of fixture.client.responses.stream({ model: 'scripted', input: 'Go', tools: [weather] })) events.push(event)
    expect(events.map((event) => event.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      ...events.filter((event) => event.type === 'response.function_call_arguments.delta').map((event) => event.type),
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.find((event) => event.type === 'response.function_call_arguments.done')).toMatchObject({ arguments: '{"city":"Rome"}' })
  })

  it('may be mixed with code: the code runs first', async () => {
    const both = call({ name: 'python', arguments: '{"code":"1"}' }, { name: 'get_weather', arguments: '{}' })
    inOrder(both)
    const response = await ask({ tools: [weather, ...tools] })
    expect(response.output).toMatchObject([
      { type: 'code_interpreter_call', status: 'completed' },
      { type: 'function_call', status: 'completed' },
    ])
  })
})

describe('request fields', () => {
  it('are returned as they were sent: include, instructions, metadata, sampling and others', async () => {
    inOrder(say('{"a":1}'))
    const format = { type: 'json_schema' as const, name: 'one', strict: true, schema: { type: 'object' } }
    const wanted = {
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      max_tool_calls: 3,
      parallel_tool_calls: false,
      tool_choice: 'none' as const,
      user: 'someone',
      safety_identifier: 'x',
      prompt_cache_key: 'y',
      reasoning: { effort: 'low' as const },
      text: { format, verbosity: 'low' as const },
    }
    const response = await ask({ ...wanted, tools })
    expect(response).toMatchObject({ ...wanted, tools, store: true, background: false, truncation: 'auto', previous_response_id: null })
    expect(JSON.parse(response.output_text)).toEqual({ a: 1 })
    expect(sent()).toMatchObject({
      messages: [{ role: 'system', content: expect.stringContaining('Be brief.') }, { role: 'user' }],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'one' } },
    })
    // Instructions apply to one turn only.
    await ask({ previous_response_id: response.id })
    expect(JSON.stringify(sent()?.messages)).not.toContain('Be brief.')
  })

  it('produce a usage that sums all model calls', async () => {
    inOrder(runPython('1'), say('1'))
    expect((await ask({ tools })).usage).toEqual({
      input_tokens: 200,
      input_tokens_details: { cached_tokens: 80, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 220,
    })
  })

  it.each<[NonNullable<ResponseCreateParamsNonStreaming['tool_choice']>, unknown]>([
    ['required', 'required'],
    ['none', undefined],
    [{ type: 'code_interpreter' }, { type: 'function', function: { name: 'python' } }],
    [
      { type: 'function', name: 'get_weather' },
      { type: 'function', function: { name: 'get_weather' } },
    ],
  ])('apply tool_choice %j to the first model call', async (choice, upstream) => {
    inOrder(choice === 'none' ? say('No.') : runPython('1'), say('Yes.'))
    const response = await ask({ tools: [...tools, weather], tool_choice: choice })
    expect(fixture.worked.upstream.requests[0]?.body.tool_choice).toEqual(upstream)
    if (choice !== 'none') expect(fixture.worked.upstream.requests[1]?.body.tool_choice).toBe('auto')
    expect(response.tool_choice).toEqual(choice)
  })

  it('end the response incomplete with the reason at max_tool_calls and max_output_tokens', async () => {
    inOrder(runPython('again()'))
    const calls = await ask({ tools, max_tool_calls: 1 })
    expect(calls).toMatchObject({ status: 'incomplete', incomplete_details: {}, x_cellblock: { incomplete_reason: 'max_tool_calls' } })
    inOrder({ ...say('A long sto'), finish: 'length' })
    const words = await ask({ max_output_tokens: 16 })
    expect(words).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: 'A long sto' })
    inOrder({ ...say('Oh'), finish: 'content_filter' })
    expect(await ask()).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  })

  it('with store: false return the response without storing it', async () => {
    inOrder(say('Once.'))
    const response = await ask({ store: false })
    expect(response).toMatchObject({ output_text: 'Once.', store: false })
    await expect(fixture.client.responses.retrieve(response.id)).rejects.toThrow(OpenAI.NotFoundError)
    await expect(ask({ previous_response_id: response.id })).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
    await expect(ask({ store: false, background: true })).rejects.toThrow(OpenAI.BadRequestError)
  })

  it('return a refusal of the model as a refusal content part', async () => {
    inOrder({ deltas: [{ refusal: 'I will not.' }], finish: 'stop' })
    expect((await ask()).output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }])
  })

  it('are ignored when they are unknown', async () => {
    inOrder(say('Fine.'))
    const unknown = {
      context_management: [{ type: 'compaction' }],
      service_tier: 'flex',
      stream_options: { include_obfuscation: true },
      top_logprobs: 3,
      truncation: 'disabled',
      include: ['message.output_text.logprobs'],
      brand_new: 1,
    }
    const response = await ask(unknown as Partial<ResponseCreateParamsNonStreaming>)
    expect(response).toMatchObject({ status: 'completed', truncation: 'disabled', service_tier: 'flex', top_logprobs: 3 })
    const events: ResponseStreamEvent[] = []
    for await (const event of await fixture.client.responses.retrieve(response.id, { stream: true, include_obfuscation: true }))
      events.push(event)
    expect(JSON.stringify(events)).not.toContain('obfuscation')
    const elsewhere = fixture.client.withOptions({ organization: 'org', project: 'proj' })
    expect((await elsewhere.responses.retrieve(response.id)).id).toBe(response.id)
  })
})

describe('an item reference', () => {
  it('resolves to a stored input or output item', async () => {
    inOrder(runPython('x = 1'), say('Set.'))
    const first = await ask({ tools, input: 'Set x' })
    const [asked] = (await fixture.client.responses.inputItems.list(first.id)).data
    const ids = [asked?.id, ...first.output.map((item) => item.id)]
    expect(new Set(ids).size).toBe(3)
    inOrder(say('Done.'))
    const references = ids.map((id) => ({ type: 'item_reference' as const, id: id ?? '' }))
    const second = await ask({ tools, store: false, input: [...references, { role: 'user', content: 'And?' }] })
    expect(second.status).toBe('completed')
    expect(sent()?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'Set x' },
      { role: 'assistant', tool_calls: [{ function: { arguments: '{"code":"x = 1"}' } }] },
      { role: 'tool', content: 'ran x = 1' },
      { role: 'assistant', content: 'Set.' },
      { role: 'user', content: 'And?' },
    ])
    const theirs = fixture.worked.api.openai(fixture.worked.api.otherTenant)
    for (const ask of [
      () => fixture.client.responses.create({ model: 'scripted', input: [{ type: 'item_reference', id: second.output[0]?.id ?? '' }] }),
      () => fixture.client.responses.create({ model: 'scripted', input: [{ type: 'item_reference', id: 'msg_absent' }] }),
      () => theirs.responses.create({ model: 'scripted', input: [{ type: 'item_reference', id: first.output[0]?.id ?? '' }] }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404, code: 'item_not_found', param: 'input[0].id' })
  })
})

describe('other routes', () => {
  it('list the models', async () => {
    expect((await fixture.client.models.list()).data.map((model) => model.id)).toEqual(['demo', 'scripted'])
    expect(await fixture.client.models.retrieve('scripted')).toMatchObject({ id: 'scripted', object: 'model' })
    await expect(fixture.client.models.delete('scripted')).rejects.toMatchObject({ status: 405, code: 'method_not_allowed' })
  })

  it('continue in an expired container by its id or through a history with its id', async () => {
    const id = newId('container')
    const { table, owner } = fixture.worked.api
    await createContainer(table, { tenant: owner.tenant, subject: null, id, name: 'old', memoryTier: '1g' }, Date.now() - 3_600_000)
    expect((await fixture.client.containers.retrieve(id)).status).toBe('expired')
    inOrder(runPython('1'), say('Woken.'))
    const named = await ask({ tools: [{ type: 'code_interpreter', container: id }] })
    expect(named.output).toMatchObject([{ type: 'code_interpreter_call', container_id: id, status: 'completed' }, {}])
    const history = [{ role: 'user', content: 'Go' }, ...named.output, { role: 'user', content: 'And?' }] as ResponseInput
    inOrder(runPython('2'), say('Again.'))
    const replayed = await ask({ tools, input: history })
    expect(replayed.output).toMatchObject([{ container_id: id, status: 'completed' }, {}])

    await fixture.client.containers.delete(id)
    inOrder(runPython('3'), say('Again.'))
    const rebuilt = await ask({ tools, input: history })
    expect(rebuilt).toMatchObject({ status: 'completed', output_text: 'Again.' })
    const [again] = rebuilt.output
    expect(again?.type === 'code_interpreter_call' && again.container_id).toMatch(/^cntr_/)
    expect(again?.type === 'code_interpreter_call' && again.container_id).not.toBe(id)
  })
})

describe('what a model thinks', () => {
  const think = (thought: string, answer: ReturnType<typeof say>) => ({
    ...answer,
    deltas: [...(thought.match(/.{1,5}/gsu) ?? []).map((piece) => ({ reasoning_content: piece })), ...answer.deltas],
  })

  it('is an item before the answer, in the stream and in a replay, and never goes back to the model', async () => {
    inOrder(think('First the data.', runPython('1')), think('Then the answer.', say('Two.')))
    const events: ResponseStreamEvent[] = []
    const stream = fixture.client.responses.stream({ model: 'scripted', input: 'Go', tools })
    for await (const event of stream) events.push(event)
    const { output, id, output_text: text } = await stream.finalResponse()
    expect(text).toBe('Two.')
    expect(output).toMatchObject([
      { type: 'reasoning', status: 'completed', summary: [], content: [{ type: 'reasoning_text', text: 'First the data.' }] },
      { type: 'code_interpreter_call' },
      { type: 'reasoning', content: [{ text: 'Then the answer.' }] },
      { type: 'message' },
    ])
    const spoken = events.filter((event) => event.type === 'response.reasoning_text.delta' && event.output_index === 0)
    expect(spoken.map((event) => ('delta' in event ? event.delta : '')).join('')).toBe('First the data.')
    expect(JSON.stringify(sent()?.messages)).not.toContain('First the data')
    const replayed: string[] = []
    for await (const event of await fixture.client.responses.retrieve(id, { stream: true })) replayed.push(event.type)
    expect(replayed.filter((type) => type === 'response.reasoning_text.done')).toHaveLength(2)
  })

  it('alone is no answer, so the model is asked again', async () => {
    inOrder(think('Hm.', { deltas: [], finish: 'stop' }), say('Here.'))
    expect((await ask()).output_text).toBe('Here.')
  })

  it('is kept up to a length', async () => {
    inOrder(think('x'.repeat(70_000), say('Done.')))
    const [item] = (await ask()).output
    const kept = item?.type === 'reasoning' ? (item.content?.[0]?.text ?? '') : ''
    expect(kept.length).toBeLessThan(66_000)
    expect(kept).toContain('[The rest is not kept.]')
  })
})
