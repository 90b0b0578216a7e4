import { describe, expect, it } from 'vitest'
import { renderResponse } from '../../../services/model/responses/render-response.ts'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { turnFixture } from '../../support/scripted-turns.ts'
import { INTERPRETER } from '../../support/turn-bench.ts'

const fixture = turnFixture()
const { play, inOrder } = fixture

/** Lets the client retry without a delay. */
const AGAIN = { 'retry-after-ms': '1' }

describe('a busy model endpoint', () => {
  it.each([429, 500, 503, 408])('is retried after a %i reply', async (status) => {
    inOrder({ deltas: [], status, headers: AGAIN }, { deltas: [], status, headers: AGAIN }, say('Now.'))
    const { row, requests } = await play({})
    expect(row).toMatchObject({ status: 'completed', items: [{ text: 'Now.' }] })
    expect(requests).toHaveLength(3)
  })

  it('is retried after the time in its Retry-After header', async () => {
    inOrder({ deltas: [], status: 429, headers: { 'retry-after': '1' } }, say('Now.'))
    const began = performance.now()
    const { row } = await play({})
    expect(row.status).toBe('completed')
    expect(performance.now() - began).toBeGreaterThan(990)
  })

  it('fails the response with the cause when it stays busy', async () => {
    inOrder({ deltas: [], status: 429, headers: AGAIN })
    const { row, requests } = await play({})
    expect(row).toMatchObject({
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: expect.stringContaining('too many requests') },
    })
    expect(requests).toHaveLength(3)
  })
})

describe('a model stream that breaks off', () => {
  it('does not run incomplete code and calls the model again', async () => {
    const whole = runPython('print("whole")')
    inOrder({ ...whole, deltas: whole.deltas.slice(0, 3), isCut: true }, whole, say('Ran.'))
    const ran: string[] = []
    const { row } = await play(INTERPRETER, (code) => {
      ran.push(code)
      return {}
    })
    expect(ran).toEqual(['print("whole")'])
    expect(row.items).toMatchObject([
      { type: 'code_interpreter_call', status: 'incomplete', outcome: null },
      { type: 'code_interpreter_call', status: 'completed' },
      { text: 'Ran.' },
    ])
  })

  it('keeps its partial text as incomplete and calls the model again after an error event', async () => {
    inOrder({ ...say('Half'), error: { message: 'overloaded', code: 'server_error' } }, say('Whole.'))
    const { row } = await play({})
    expect(row).toMatchObject({ status: 'completed', items: [{ status: 'incomplete', text: 'Half' }, { text: 'Whole.' }] })
  })
})

describe('an invalid tool call', () => {
  it('with arguments that are not JSON gets an error, and the next call runs its code', async () => {
    inOrder(call({ name: 'python', arguments: '{"code": 6' }), runPython('6*7'), say('42'))
    const { row, requests } = await play(INTERPRETER)
    expect(row.items).toMatchObject([
      { status: 'failed', outcome: { reason: 'invalid_arguments' } },
      { status: 'completed' },
      { text: '42' },
    ])
    // The history sent to the model contains valid JSON.
    const sent = requests[1]?.body.messages.find((message) => message.tool_calls !== undefined)
    const [first] = (sent?.tool_calls ?? []) as { function: { arguments: string } }[]
    expect(() => JSON.parse(first?.function.arguments ?? '') as unknown).not.toThrow()
  })

  it('with plain Python as its arguments runs that code', async () => {
    inOrder(call({ name: 'python', arguments: 'print(1)\nprint(2)' }), say('Done.'))
    const ran: string[] = []
    await play(INTERPRETER, (code) => {
      ran.push(code)
      return {}
    })
    expect(ran).toEqual(['print(1)\nprint(2)'])
  })

  it('beyond the first is ignored when parallel_tool_calls is false', async () => {
    inOrder(runPython('first()', 'second()'), say('One.'))
    const ran: string[] = []
    const { row, requests } = await play({ ...INTERPRETER, parallelToolCalls: false }, (code) => {
      ran.push(code)
      return {}
    })
    expect(ran).toEqual(['first()'])
    expect(row.items.map((item) => item.type)).toEqual(['code_interpreter_call', 'message'])
    expect(requests[0]?.body['parallel_tool_calls']).toBe(false)
  })
})

describe('a model without tool calls', () => {
  it('runs the fenced code block of its answer and returns the result as a message', async () => {
    inOrder(say('Let me compute.\n```python\nprint(6*7)\n```\n'), say('It is 42.'))
    const ran: string[] = []
    const { row, requests } = await play({ ...INTERPRETER, model: 'fenced' }, (code) => {
      ran.push(code)
      return { result: { stdout: '42\n' } }
    })
    expect(ran).toEqual(['print(6*7)\n'])
    expect(row.items).toMatchObject([
      { type: 'message', phase: 'commentary' },
      { type: 'code_interpreter_call', status: 'completed' },
      { type: 'message', text: 'It is 42.', phase: 'final_answer' },
    ])
    expect(requests[0]?.body.tools).toBeUndefined()
    expect(String(requests[0]?.body.messages[0]?.content)).toContain('fenced block')
    expect(requests[1]?.body.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: expect.stringContaining('```python\nprint(6*7)\n```') },
      { role: 'user', content: expect.stringContaining('stdout:\n42') },
    ])
    expect(JSON.stringify(requests[1]?.body.messages)).not.toContain('tool_call')
  })

  it('stops running code after three failures and explains them', async () => {
    fixture.bench.upstream.play(({ body }) =>
      JSON.stringify(body.messages).includes('Explain to the user') ? say('It fails.') : say('```python\n1/0\n```'),
    )
    const { row } = await play({ ...INTERPRETER, model: 'fenced' }, () => ({
      patch: { status: 'failed', reason: 'error' },
      result: { error: { name: 'ZeroDivisionError', value: '', traceback: [] } },
    }))
    expect(row).toMatchObject({ status: 'completed', consecutiveFailures: 3 })
    expect(row.items.at(-1)).toMatchObject({ type: 'message', text: 'It fails.' })
  })

  it('may show code blocks that are not run when tool_choice is none', async () => {
    inOrder(say('Like this:\n```python\nprint(1)\n```\n'))
    const { row } = await play({ model: 'fenced' })
    expect(row.items).toMatchObject([{ type: 'message', phase: 'final_answer' }])
  })
})

describe('the requested output format', () => {
  it('is sent to the endpoint under its name for it', async () => {
    inOrder(say('{"a": 1}'))
    const format = { type: 'json_schema', name: 'one', strict: true, schema: { type: 'object' } }
    const { requests, row } = await play({
      echoed: { text: { format, verbosity: 'low' }, reasoning: { effort: 'high' } },
      temperature: 0.5,
    })
    expect(row.items).toMatchObject([{ text: '{"a": 1}' }])
    expect(requests[0]?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'one', strict: true, schema: { type: 'object' } } },
      verbosity: 'low',
      reasoning_effort: 'high',
      temperature: 0.5,
    })
  })

  it('is left out and reported when the model does not support it', async () => {
    const refusal = { deltas: [], status: 400, error: { message: 'temperature is not supported with this model' } }
    inOrder(refusal, runPython('1'), say('Done.'))
    const { row, requests } = await play({ ...INTERPRETER, temperature: 0.5 })
    expect(requests.map(({ body }) => body['temperature'])).toEqual([0.5, undefined, undefined])
    expect(row).toMatchObject({ status: 'completed', droppedParameters: ['temperature'] })
    expect(renderResponse(row, { include: [] })['x_cellblock']).toMatchObject({ dropped_parameters: ['temperature'] })
  })
})
