import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { turnFixture } from '../../support/scripted-turns.ts'
import { INTERPRETER, type RunCode } from '../../support/turn-bench.ts'

const fixture = turnFixture()
const { play } = fixture

const failing: RunCode = () => ({
  patch: { status: 'failed', reason: 'error' },
  result: {
    error: { name: 'ZeroDivisionError', value: 'division by zero', traceback: ['\u001b[31mZeroDivisionError\u001b[0m: division by zero'] },
    stderr: 'warn\n',
  },
})

describe('code that fails', () => {
  it('is reported to the model with its error and ends in an explanation after three failures', async () => {
    fixture.bench.upstream.play(({ body }) => (body.tools === undefined ? say('It always divides by zero.') : runPython('1/0')))
    const { row, requests } = await play(INTERPRETER, failing)
    expect(row.status).toBe('completed')
    expect(row.items.map((item) => item.type)).toEqual([
      ...Array<string>(LIMITS.maxConsecutiveFailures).fill('code_interpreter_call'),
      'message',
    ])
    expect(row.items[0]).toMatchObject({ status: 'completed', outcome: { status: 'failed', error: { name: 'ZeroDivisionError' } } })
    const toolMessage = String(requests[1]?.body.messages.at(-1)?.content)
    expect(toolMessage).toContain('error: ZeroDivisionError: division by zero')
    expect(toolMessage).toContain('stderr:\nwarn')
    expect(toolMessage).not.toContain('\u001b')
    expect(String(requests.at(-1)?.body.messages.at(-1)?.content)).toContain('Explain to the user')
  })

  it('resets the count of failures after a success', async () => {
    const codes = ['bad', 'bad', 'good', 'bad', 'bad', 'good']
    fixture.bench.upstream.play(({ body }) => {
      const next = codes[body.messages.filter((message) => message.role === 'tool').length]
      return next === undefined ? say('Done.') : runPython(next)
    })
    const { row } = await play(INTERPRETER, (code, execution) => (code === 'bad' ? failing(code, execution) : {}))
    expect(row).toMatchObject({ status: 'completed', toolCalls: 6, consecutiveFailures: 0 })
  })
})

describe('limits of a response', () => {
  it('end it incomplete when the model makes more calls than max_tool_calls', async () => {
    fixture.bench.upstream.play(() => runPython('again()'))
    const { row } = await play({ ...INTERPRETER, maxToolCalls: 2 })
    expect(row).toMatchObject({ status: 'incomplete', incompleteReason: 'max_tool_calls', toolCalls: 2 })
    expect(row.items.map((item) => item.status)).toEqual(['completed', 'completed', 'incomplete'])
  })

  it('end it incomplete when the model reaches its output limit', async () => {
    fixture.bench.upstream.play(() => ({ ...say('A long sto'), finish: 'length' }))
    const { row, requests } = await play({ maxOutputTokens: 16 })
    expect(row).toMatchObject({
      status: 'incomplete',
      incompleteReason: 'max_output_tokens',
      items: [{ status: 'incomplete', text: 'A long sto' }],
    })
    expect(requests[0]?.body['max_tokens']).toBe(16)
  })

  it('end it incomplete when the time limit of the response passes', async () => {
    fixture.bench.upstream.play(() => runPython('slow()'))
    const { id } = await fixture.bench.accept(INTERPRETER)
    await fixture.bench.step(id)
    const { pending } = await fixture.bench.row(id)
    fixture.bench.skew += LIMITS.maxResponseSeconds * 1000 + 1
    await fixture.bench.step(id)
    const row = await fixture.bench.row(id)
    fixture.bench.skew = 0
    expect(row).toMatchObject({ status: 'incomplete', incompleteReason: 'max_response_seconds', items: [{ status: 'incomplete' }] })
    expect(await fixture.bench.storage.table.executions.get(fixture.bench.tenant, pending?.executionId ?? '')).toMatchObject({
      status: 'cancelled',
      endedAt: expect.any(Number),
    })
    checkResponseStream(await fixture.bench.events(id), row)
  })
})

describe('an answer that takes longer than its process may run', () => {
  it('ends the response with what readers have received, without another call of the model', async () => {
    fixture.bench.upstream.play(() => ({ ...say('Once upon a time'), gate: new Promise(() => undefined) }))
    const { id } = await fixture.bench.accept({})
    await fixture.bench.step(id, { stepLimitMs: 500 })
    const row = await fixture.bench.row(id)
    expect(row).toMatchObject({
      status: 'incomplete',
      incompleteReason: 'max_answer_seconds',
      items: [{ type: 'message', status: 'incomplete', text: 'Once upon a time' }],
    })
    expect(fixture.bench.upstream.requests).toHaveLength(1)
    checkResponseStream(await fixture.bench.events(id), row)
  })

  it('does not run code that was about to be complete', async () => {
    fixture.bench.upstream.play(() => ({ ...runPython('work()'), finish: null, gate: new Promise(() => undefined) }))
    const { id } = await fixture.bench.accept(INTERPRETER)
    await fixture.bench.step(id, { stepLimitMs: 500 })
    const row = await fixture.bench.row(id)
    expect(row).toMatchObject({
      status: 'incomplete',
      incompleteReason: 'max_answer_seconds',
      items: [{ status: 'incomplete', outcome: null }],
    })
    checkResponseStream(await fixture.bench.events(id), row)
  })
})

describe('a model that misbehaves', () => {
  it('gets an error about invalid arguments', async () => {
    fixture.bench.upstream.play((_, turn) => (turn === 0 ? call({ name: 'python', arguments: '{"code": "print(' }) : say('Sorry.')))
    const { row, requests } = await play(INTERPRETER)
    expect(row.items).toMatchObject([
      { type: 'code_interpreter_call', status: 'failed', outcome: { reason: 'invalid_arguments', executionId: null } },
      { text: 'Sorry.' },
    ])
    expect(String(requests[1]?.body.messages.at(-1)?.content)).toContain('not valid JSON')
  })

  it('gets the list of tools when it calls an unknown one, and the stream shows no item for it', async () => {
    fixture.bench.upstream.play((_, turn) => (turn === 0 ? call({ name: 'browse', arguments: '{}' }) : say('No browsing then.')))
    const { row, requests } = await play(INTERPRETER)
    expect(row.items).toMatchObject([{ type: 'message', text: 'No browsing then.' }])
    expect(String(requests[1]?.body.messages.at(-1)?.content)).toContain('Tools that exist: python')
  })

  it('is called again after an empty answer, then the response ends incomplete', async () => {
    fixture.bench.upstream.play(() => say(''))
    const { row, requests } = await play({})
    expect(row).toMatchObject({ status: 'incomplete', incompleteReason: 'empty_answer', items: [] })
    expect(requests).toHaveLength(2)
  })

  it('is called again when its stream breaks, and the partial item stays as incomplete', async () => {
    fixture.bench.upstream.play((_, turn) => (turn === 0 ? { ...say('Half an ans'), isCut: true } : say('A whole answer.')))
    const { row } = await play({})
    expect(row).toMatchObject({ status: 'completed', items: [{ status: 'incomplete' }, { status: 'completed', text: 'A whole answer.' }] })
  })

  it('fails the response when every stream breaks', async () => {
    fixture.bench.upstream.play(() => ({ ...say('Half'), finish: null }))
    const { row } = await play({})
    expect(row).toMatchObject({
      status: 'failed',
      error: { code: 'model_error', message: expect.stringContaining('was lost during its answer') },
    })
  })

  it.each([
    [401, 'model_error', 'rejected its key'],
    [429, 'rate_limit_exceeded', 'too many requests'],
    [500, 'model_error', 'failed'],
    [400, 'model_error', 'status 400'],
  ])('fails the response when the endpoint answers %i', async (status, code, message) => {
    fixture.bench.upstream.play(() => ({ deltas: [], status }))
    const { row } = await play({})
    expect(row).toMatchObject({ status: 'failed', error: { code, message: expect.stringContaining(message) } })
    expect(JSON.stringify(row.error)).not.toContain('sk-scripted')
  })

  it('runs fenced code when tool_choice requires code', async () => {
    fixture.bench.upstream.play((_, turn) => (turn === 0 ? say('Here:\n```python\nprint(1)\n```\n') : say('One.')))
    const ran: string[] = []
    const { row } = await play({ ...INTERPRETER, toolChoice: 'required' }, (code) => {
      ran.push(code)
      return {}
    })
    expect(ran).toEqual(['print(1)\n'])
    expect(row.items).toMatchObject([
      { type: 'message', phase: 'commentary' },
      { type: 'code_interpreter_call' },
      { type: 'message', phase: 'final_answer' },
    ])
  })

  it('may answer with a refusal', async () => {
    fixture.bench.upstream.play(() => ({ deltas: [{ refusal: 'I will ' }, { refusal: 'not.' }], finish: 'stop' }))
    const { row, events } = await play({})
    expect(row.items).toMatchObject([{ isRefusal: true, text: 'I will not.' }])
    expect(events.some((event) => event.type === 'response.refusal.done' && event.data['refusal'] === 'I will not.')).toBe(true)
  })
})
