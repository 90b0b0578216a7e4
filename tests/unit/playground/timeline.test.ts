import { describe, expect, it } from 'vitest'
import type { StreamEvent, WireItem } from '../../../packages/playground/api/types.ts'
import { entriesOf } from '../../../packages/playground/state/history-entries.ts'
import { applyEvent, hasEnded, newAnswer, type Answer } from '../../../packages/playground/state/timeline.ts'

const call = (change: object = {}): WireItem => ({
  type: 'code_interpreter_call',
  id: 'ci_1',
  code: '',
  status: 'in_progress',
  outputs: null,
  ...change,
})
const event = (type: string, fields: object = {}): StreamEvent => ({ type, sequence_number: 0, ...fields })
const play = (...events: readonly StreamEvent[]): Answer => events.reduce(applyEvent, newAnswer('a'))

describe('the events of a turn', () => {
  it('become code, its live text and the final text', () => {
    const live = (text: string, stream = 'stdout'): StreamEvent =>
      event('keepalive', { x_cellblock: { type: 'code_interpreter_call_output', output_index: 0, stream, text } })
    const answer = play(
      event('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [], error: null } }),
      event('response.output_item.added', { output_index: 0, item: call() }),
      event('response.code_interpreter_call_code.delta', { output_index: 0, delta: 'print' }),
      event('response.code_interpreter_call_code.delta', { output_index: 0, delta: '(1)' }),
      event('response.code_interpreter_call.interpreting', { output_index: 0 }),
      live('a'),
      live('b'),
      live('!', 'stderr'),
    )
    expect(answer).toMatchObject({ responseId: 'resp_1', status: 'in_progress' })
    expect(answer.parts).toMatchObject([
      {
        kind: 'code',
        run: {
          code: 'print(1)',
          status: 'running',
          live: [
            { stream: 'stdout', text: 'ab' },
            { stream: 'stderr', text: '!' },
          ],
        },
      },
    ])
  })

  it('keep the printed text until the outputs of the execution are read', () => {
    const outcome = { x_cellblock: { execution_id: 'exec_1', status: 'succeeded', reason: null }, status: 'completed', code: 'x' }
    const answer = play(
      event('response.output_item.added', { output_index: 0, item: call() }),
      event('keepalive', { x_cellblock: { type: 'code_interpreter_call_output', output_index: 0, stream: 'stdout', text: 'kept' } }),
      event('response.output_item.done', { output_index: 0, item: call(outcome) }),
      event('response.completed', { response: { id: 'resp_1', status: 'completed', output: [call(outcome)], error: null } }),
    )
    expect(answer.parts).toMatchObject([{ run: { status: 'succeeded', executionId: 'exec_1', live: [{ text: 'kept' }] } }])
    expect(hasEnded(answer)).toBe(true)
  })

  it('that are unknown, or name an item that is not there, change nothing', () => {
    const before = play(event('response.output_item.added', { output_index: 0, item: call() }))
    expect(applyEvent(before, event('response.something.new', { output_index: 0, delta: 'x' }))).toEqual(before)
    expect(applyEvent(before, event('response.output_text.delta', { output_index: 7, delta: 'x' }))).toEqual(before)
    expect(applyEvent(before, event('response.output_item.added', { output_index: 9, item: call() })).parts).toEqual(before.parts)
  })

  it('show why a turn failed', () => {
    const answer = play(event('response.failed', { response: { id: 'r', status: 'failed', output: [], error: { message: 'No model.' } } }))
    expect(answer).toMatchObject({ status: 'failed', error: 'No model.' })
  })
})

it('groups the items of a conversation into messages and answers', () => {
  const message = (role: string, text: string): WireItem => ({
    type: 'message',
    id: `${role}-${text}`,
    role,
    content: [{ type: 'text', text }],
  })
  const entries = entriesOf([message('user', 'one'), call({ status: 'completed' }), message('assistant', 'done'), message('user', 'two')])
  expect(entries.map((entry) => (entry.kind === 'answer' ? entry.parts.map(({ kind }) => kind) : entry.kind))).toEqual([
    'user',
    ['code', 'text'],
    'user',
  ])
})
