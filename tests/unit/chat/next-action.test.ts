import { describe, expect, it } from 'vitest'
import { nextAction, type Decision } from '../../../services/workers/turn/next-action.ts'
import type { JobProgress, TurnState } from '../../../services/workers/turn/turn-state.ts'
import type { Execution } from '../../../services/model/executions/execution.ts'
import type { PendingCall } from '../../../services/model/responses/response.ts'
import type { ResponseItem } from '../../../services/model/responses/items/item-types.ts'

const EMPTY: TurnState = {
  items: [],
  pending: null,
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  toolCalls: 0,
  consecutiveFailures: 0,
  containerId: null,
  error: null,
  incompleteReason: null,
  contextCut: null,
  droppedParameters: [],
}
const decide = (state: Partial<TurnState>, rest: Partial<Omit<Decision, 'state'>> = {}) =>
  nextAction({ state: { ...EMPTY, ...state }, job: { kind: 'missing' }, request: { tools: [] }, stop: null, ...rest })

const PENDING: PendingCall = { executionId: 'exec_1', containerId: 'cntr_1', itemIndex: 0, outputIndex: 0, jobIndex: 0 }
const ENDED: JobProgress = { kind: 'ended', execution: {} as Execution }
const code = (status: 'in_progress' | 'interpreting' | 'incomplete'): ResponseItem => ({
  type: 'code_interpreter_call',
  id: 'ci_1',
  callId: 'call_1',
  containerId: 'cntr_1',
  code: '1',
  status,
  outcome: null,
})
const message = (phase: 'commentary' | 'final_answer' | null, status: 'completed' | 'incomplete' = 'completed'): ResponseItem => ({
  type: 'message',
  id: 'msg_1',
  status,
  text: 'x',
  citations: [],
  phase,
  isRefusal: false,
})
const call = (output: string | null, status: 'completed' | 'incomplete' = 'completed'): ResponseItem => ({
  type: 'function_call',
  id: 'fc_1',
  callId: 'call_1',
  name: 'count',
  arguments: '{}',
  status,
  output,
})
const OF_CALLER = { request: { tools: [{ type: 'function', name: 'count' }] } }

describe('the next action of a turn', () => {
  it('is to ask the model when nothing has happened', () => {
    expect(decide({})).toEqual({ kind: 'ask_model', isLast: false })
  })

  it.each<[JobProgress, string]>([
    [{ kind: 'missing' }, 'submit_job'],
    [{ kind: 'running' }, 'wait_for_job'],
    [ENDED, 'collect_job'],
  ])('with a pending call whose execution is %o is %s', (progress, kind) => {
    expect(decide({ pending: PENDING, items: [code('interpreting')] }, { job: progress })).toEqual({ kind })
  })

  it.each(['in_progress', 'interpreting'] as const)('is to start code that is %s', (status) => {
    expect(decide({ items: [message('commentary'), code(status)] })).toEqual({ kind: 'start_call', index: 1 })
  })

  it('is to start a shell call that waits, also one that a crash left without its whole output', () => {
    const shell: ResponseItem = {
      type: 'shell_call',
      id: 'sh_1',
      callId: 'call_1',
      containerId: 'cntr_1',
      arguments: '{}',
      status: 'in_progress',
    }
    const output = (status: 'in_progress' | 'completed'): ResponseItem => ({
      type: 'shell_call_output',
      id: 'sho_1',
      callId: 'call_1',
      status,
      maxOutputLength: null,
      results: [],
      files: [],
      modelText: '',
    })
    const start = { kind: 'start_call', index: 0 }
    expect(decide({ items: [shell] })).toEqual(start)
    expect(decide({ items: [{ ...shell, status: 'completed' }] })).toEqual(start)
    expect(decide({ items: [{ ...shell, status: 'completed' }, output('in_progress')] })).toEqual(start)
    expect(decide({ items: [{ ...shell, status: 'completed' }, output('completed')] })).toMatchObject({ kind: 'ask_model' })
    expect(decide({ items: [{ ...shell, status: 'incomplete' }] })).toMatchObject({ kind: 'ask_model' })
    expect(decide({ items: [{ ...shell, status: 'completed', containerId: null }] })).toMatchObject({ kind: 'end', status: 'completed' })
  })

  it('starts no code that an answer left incomplete', () => {
    expect(decide({ items: [code('incomplete')] })).toMatchObject({ kind: 'ask_model' })
  })

  it('is to use the tool of an open call', () => {
    expect(decide({ items: [call(null)] })).toEqual({ kind: 'use_tool', index: 0 })
  })

  it('is to end when the caller has to answer a call', () => {
    expect(decide({ items: [call(null)] }, OF_CALLER)).toMatchObject({ kind: 'end', status: 'completed' })
  })

  it('is to ask again after a call that was answered', () => {
    expect(decide({ items: [call('3')] })).toMatchObject({ kind: 'ask_model' })
  })

  it('is to end with a final answer, and with nothing less', () => {
    expect(decide({ items: [message('final_answer')] })).toMatchObject({ kind: 'end', status: 'completed' })
    expect(decide({ items: [message('commentary')] })).toMatchObject({ kind: 'ask_model' })
    expect(decide({ items: [message(null, 'incomplete')] })).toMatchObject({ kind: 'ask_model' })
  })

  it('asks for the last time, without tools, after three failures in a row', () => {
    expect(decide({ consecutiveFailures: 3 })).toEqual({ kind: 'ask_model', isLast: true })
  })

  it('is to end with an error as failed, before open calls', () => {
    const error = { code: 'model_error', message: 'x' }
    expect(decide({ error, items: [code('in_progress')] })).toMatchObject({ kind: 'end', status: 'failed' })
  })

  it('runs the calls of an answer before a limit ends the turn', () => {
    const incompleteReason = 'max_tool_calls'
    expect(decide({ incompleteReason, items: [code('in_progress')] })).toMatchObject({ kind: 'start_call' })
    expect(decide({ incompleteReason })).toEqual({ kind: 'end', status: 'incomplete', incompleteReason })
  })

  it.each([
    ['cancelled', { kind: 'end', status: 'cancelled', incompleteReason: null }],
    ['overdue', { kind: 'end', status: 'incomplete', incompleteReason: 'max_response_seconds' }],
  ] as const)('is to end at once when the turn is %s', (stop, action) => {
    expect(decide({ pending: PENDING, items: [code('interpreting')] }, { stop, job: ENDED })).toEqual(action)
  })
})
