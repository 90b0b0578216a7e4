import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder } = fixture

const tools = codeTools

describe('the stream of a turn with code', () => {
  it('has the wire events in order, numbered from 0', async () => {
    inOrder(runPython('print(1)'), say('It says 1.', 100))
    const events: ResponseStreamEvent[] = []
    for await (const event of fixture.client.responses.stream({
      model: 'scripted',
      input: 'Go',
      tools,
      include: ['code_interpreter_call.outputs'],
    }))
      events.push(event)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
    const types = events.map((event) => event.type).filter((type, i, all) => type !== all[i - 1])
    expect(types).toEqual(
      [
        'created',
        'in_progress',
        'output_item.added',
        'code_interpreter_call.in_progress',
        'code_interpreter_call_code.delta',
        'code_interpreter_call_code.done',
        'code_interpreter_call.interpreting',
        'code_interpreter_call.completed',
        'output_item.done',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'completed',
      ].map((name) => `response.${name}`),
    )
    expect(events.find((event) => event.type === 'response.output_item.done')).toMatchObject({
      item: { type: 'code_interpreter_call', code: 'print(1)', outputs: [{ type: 'logs', logs: 'ran print(1)' }] },
    })
    expect(events.at(-1)).toMatchObject({ response: { status: 'completed', output: [{}, { content: [{ text: 'It says 1.' }] }] } })
  })

  it('resumes with starting_after when the connection broke', async () => {
    const gate = Promise.withResolvers<void>()
    inOrder({ ...say('First half, ', 4), gate: gate.promise })
    const stream = await fixture.client.responses.create({ model: 'scripted', input: 'Go', stream: true })
    const before: ResponseStreamEvent[] = []
    for await (const event of stream) {
      before.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    gate.resolve()
    const [first] = before
    const id = first?.type === 'response.created' ? first.response.id : ''
    const after: ResponseStreamEvent[] = []
    for await (const event of await fixture.client.responses.retrieve(id, { stream: true, starting_after: before.length - 1 }))
      after.push(event)
    const all = [...before, ...after]
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, i) => i))
    expect(all.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')).toBe('First half, ')
    expect(all.at(-1)?.type).toBe('response.completed')
  })

  it('is synthesized for a plain response without an event log', async () => {
    inOrder(runPython('print(1)'), say('It says 1.', 100))
    const { id } = await fixture.client.responses.create({ model: 'scripted', input: 'Go', tools })
    const events: ResponseStreamEvent[] = []
    for await (const event of await fixture.client.responses.retrieve(id, { stream: true })) events.push(event)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i))
    const row = await fixture.worked.api.table.responses.get(fixture.worked.api.owner.tenant, id)
    if (row === null) throw new Error('no row')
    checkResponseStream(
      events.map(({ sequence_number: seq, type, ...data }) => ({ seq, at: 0, type, data })),
      row,
    )
    expect(events.map((event) => event.type)).toContain('response.code_interpreter_call.interpreting')
    expect(events.at(-1)).toMatchObject({ response: { status: 'completed', output: [{}, { content: [{ text: 'It says 1.' }] }] } })
    const rest: ResponseStreamEvent[] = []
    for await (const event of await fixture.client.responses.retrieve(id, { stream: true, starting_after: 4 })) rest.push(event)
    expect(rest).toEqual(events.slice(5))
  })
})
