import { describe, expect, it } from 'vitest'
import { call, runPython, say, type ScriptedAnswer } from '../../support/scripted-upstream.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body
const calls = () => fixture.worked.upstream.requests.length
const textOf = (at: number) => JSON.stringify(sent(at)?.messages)

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}
const format = { type: 'json_schema' as const, name: 'weather', strict: true, schema }
const text = { format }
const GOOD = '{"city": "Kiel", "degrees": 9.5}'
const rejects = (message: string): ScriptedAnswer => ({ deltas: [], status: 400, error: { message } })

describe('an answer in the requested format', () => {
  it('is repaired when it violates the schema: readers receive only the valid answer', async () => {
    inOrder(say('{"city": "Kiel", "degrees": "cold", "sky": 1}'), say(GOOD))
    const deltas: string[] = []
    const stream = fixture.client.responses.stream({ model: 'scripted', input: 'Go', text })
    for await (const event of stream) if (event.type === 'response.output_text.delta') deltas.push(event.delta)
    expect(deltas.join('')).toBe(GOOD)
    const response = await stream.finalResponse()
    expect(response.output).toMatchObject([{ type: 'message', status: 'completed' }])
    expect(response.output_parsed).toEqual({ city: 'Kiel', degrees: 9.5 })
    expect(response.usage?.output_tokens).toBe(20)
    expect(sent(1)?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: expect.stringContaining('"cold"') },
      { role: 'user', content: expect.stringMatching(/#\/degrees: [^]*"sky"[^]*"required":\["city","degrees"\]/) },
    ])
  })

  it('is read out of a fence and of prose', async () => {
    inOrder(say(`Here you are:\n\`\`\`json\n${GOOD}\n\`\`\`\nAnything else?`))
    expect((await ask({ text })).output_text).toBe(GOOD)
    inOrder(say(`The answer is ${GOOD}, of course.`))
    expect((await ask({ text })).output_text).toBe(GOOD)
    expect(calls()).toBe(1)
  })

  it('becomes a refusal after two corrections', async () => {
    inOrder(say('I do not know.'), say('[1]'), say('{}'))
    const response = await ask({ text })
    expect(calls()).toBe(3)
    expect(response).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'refusal', refusal: expect.stringMatching(/"weather" in 3 attempts.*[^]*city/) }] }],
    })
    expect(response.output_text).toBe('')
  })

  it('ends a turn that runs code, and prose before the code does not become a message', async () => {
    const [python] = runPython('1').deltas
    inOrder({ deltas: [{ content: 'I will look.' }, ...(python ? runPython('1').deltas : [])], finish: 'tool_calls' }, say(GOOD))
    const response = await ask({ text, tools: codeTools })
    expect(response.output.map(({ type }) => type)).toEqual(['code_interpreter_call', 'message'])
    expect(response.output_text).toBe(GOOD)
  })

  it('ends at the limit of output tokens without a correction', async () => {
    inOrder({ deltas: [{ content: '{"city": "Ki' }], finish: 'length' })
    const response = await ask({ text })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(response.output_text).toBe('{"city": "Ki')
  })

  it('is the refusal of the model when the model refuses to answer', async () => {
    inOrder({ deltas: [{ refusal: 'I cannot help with that.' }], finish: 'stop' })
    expect((await ask({ text })).output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I cannot help with that.' }] }])
  })

  it('does not wait for a schema that cannot be checked in time', async () => {
    const hard = { ...format, schema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }
    inOrder(say(JSON.stringify({ a: `${'a'.repeat(60)}!` })))
    expect(await ask({ text: { format: hard } })).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_prompt', message: expect.stringContaining('timed out') },
    })
    inOrder(say('{}'))
    const broken = { ...format, schema: { type: 'object', $ref: '#/$defs/missing' } }
    expect(await ask({ text: { format: broken } })).toMatchObject({ status: 'failed', error: { code: 'invalid_prompt' } })
  })

  it('is an object when the request asks for json_object', async () => {
    inOrder(say('[1, 2'), say('{"a": 1}'))
    expect((await ask({ text: { format: { type: 'json_object' } } })).output_text).toBe('{"a": 1}')
    expect(sent(0)).toMatchObject({ response_format: { type: 'json_object' } })
  })
})

describe('an endpoint without structured outputs', () => {
  it('gets its JSON mode and the schema as text, and later requests start with that', async () => {
    inOrder(rejects("'response_format' of type 'json_schema' is not supported with this model."), say('Hm.'), say(GOOD))
    expect((await ask({ text, instructions: 'Be brief.' })).output_text).toBe(GOOD)
    expect(sent(0)?.['response_format']).toMatchObject({ type: 'json_schema' })
    expect(sent(1)?.['response_format']).toEqual({ type: 'json_object' })
    expect(textOf(1)).toMatch(/Be brief[^]*additionalProperties/)
    inOrder(say(GOOD))
    expect((await ask({ text })).output_text).toBe(GOOD)
    expect(sent(0)?.['response_format']).toEqual({ type: 'json_object' })
  })

  it('gets only the schema as text when it has no JSON mode either', async () => {
    inOrder(rejects('This response_format type is unavailable now'), call(), say(GOOD))
    fixture.worked.upstream.play((_, turn) => (turn === 0 ? rejects('This response_format type is unavailable now') : say(GOOD)))
    expect((await ask({ text })).output_text).toBe(GOOD)
    expect(sent(1)).not.toHaveProperty('response_format')
    expect(textOf(1)).toContain('additionalProperties')
  })
})
