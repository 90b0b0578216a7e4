import { describe, expect, it } from 'vitest'
import { renderResponse } from '../../../services/model/responses/render-response.ts'
import { responseRow, T0 } from '../../support/rows.ts'
import { renderItem, type ResponseItem } from '../../../services/model/responses/items/item-types.ts'
import type { CallOutcome } from '../../../services/model/responses/items/code-interpreter-call.ts'

const outcome: CallOutcome = {
  executionId: 'exec_1',
  status: 'succeeded',
  reason: null,
  logs: '42',
  images: [{ url: 'https://h/d/x', mime: 'image/png', linkId: 'link_1' }],
  files: [
    {
      id: 'cfile_1',
      path: 'a.csv',
      bytes: 1,
      sha256: 'aa',
      mime: 'text/csv',
      isNew: false,
      modifiedFrom: 'cfile_0',
      url: 'https://h/d/y',
      linkId: 'link_2',
    },
  ],
  lost: [{ what: 'x', reason: 'y' }],
  error: null,
  outputs: [{ 'text/plain': '42' }],
  modelText: 'secret to the wire',
  usage: { queueMs: 1, startMs: 2, runMs: 3, cpuMs: 4, peakMemoryBytes: 5, outputBytes: 6, sandboxSeconds: 7, costUsd: 0 },
}
const ci: ResponseItem = {
  type: 'code_interpreter_call',
  id: 'ci_1',
  callId: 'call_1',
  containerId: 'cntr_1',
  code: 'x',
  status: 'completed',
  outcome,
}

describe('renderResponse', () => {
  it('contains every field of the wire', () => {
    const wire = renderResponse(responseRow({ id: 'resp_1', containerId: 'cntr_1' }), { include: [] })
    expect(wire).toMatchObject({
      id: 'resp_1',
      object: 'response',
      created_at: T0 / 1000,
      completed_at: null,
      status: 'queued',
      usage: null,
      error: null,
      incomplete_details: null,
      output: [],
      x_cellblock: { container_id: 'cntr_1' },
    })
    for (const field of [
      'background',
      'instructions',
      'metadata',
      'model',
      'parallel_tool_calls',
      'previous_response_id',
      'temperature',
      'tool_choice',
      'tools',
      'top_p',
      'max_output_tokens',
      'text',
      'truncation',
      'store',
    ]) {
      expect(wire).toHaveProperty(field)
    }
    expect(JSON.parse(JSON.stringify(wire))).toEqual(wire)
  })

  it('contains usage and reasons once the response has ended', () => {
    const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 5, reasoningTokens: 2 }
    expect(
      renderResponse(responseRow({ status: 'incomplete', incompleteReason: 'max_tool_calls', usage, completedAt: T0 }), { include: [] }),
    ).toMatchObject({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: {},
      x_cellblock: { incomplete_reason: 'max_tool_calls' },
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 15,
      },
    })
    expect(renderResponse(responseRow({ status: 'completed', completedAt: T0 }), { include: [] })).toMatchObject({
      completed_at: T0 / 1000,
    })
  })
})

describe('renderItem', () => {
  it('contains the outputs of a code call only if requested', () => {
    expect(renderItem(ci, { include: [] })['outputs']).toBeNull()
    expect(renderItem(ci, { include: ['code_interpreter_call.outputs'] })['outputs']).toEqual([
      { type: 'logs', logs: '42' },
      { type: 'image', url: 'https://h/d/x' },
    ])
  })

  it('puts Cellblock extensions into one field', () => {
    expect(renderItem(ci, { include: [] })['x_cellblock']).toEqual({
      execution_id: 'exec_1',
      status: 'succeeded',
      reason: null,
      error: null,
      lost: [{ what: 'x', reason: 'y' }],
      outputs: [{ 'text/plain': '42' }],
      images: [{ url: 'https://h/d/x', mime: 'image/png', link_id: 'link_1' }],
      files: [
        {
          id: 'cfile_1',
          path: '/mnt/data/a.csv',
          bytes: 1,
          sha256: 'aa',
          mime: 'text/csv',
          url: 'https://h/d/y',
          link_id: 'link_2',
          is_new: false,
          modified_from: 'cfile_0',
        },
      ],
      usage: { queue_ms: 1, start_ms: 2, run_ms: 3, cpu_ms: 4, peak_memory_bytes: 5, output_bytes: 6, sandbox_seconds: 7, cost_usd: 0 },
    })
    expect(JSON.stringify(renderItem(ci, { include: ['code_interpreter_call.outputs'] }))).not.toContain('secret to the wire')
  })

  it('renders messages, parts of type refusal, and function calls', () => {
    const message: ResponseItem = {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      text: 'a.csv',
      phase: 'final_answer',
      isRefusal: false,
      citations: [{ containerId: 'cntr_1', fileId: 'cfile_1', filename: 'a.csv', startIndex: 0, endIndex: 5 }],
    }
    expect(renderItem(message, { include: [] })).toMatchObject({
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'a.csv',
          annotations: [
            {
              type: 'container_file_citation',
              container_id: 'cntr_1',
              file_id: 'cfile_1',
              filename: 'a.csv',
              start_index: 0,
              end_index: 5,
            },
          ],
        },
      ],
    })
    const emoji = '📊🎉 '
    const [shifted] = renderItem(
      { ...message, text: `${emoji}${message.text}`, citations: message.citations.map((one) => ({ ...one, startIndex: 5, endIndex: 10 })) },
      { include: [] },
    )['content'] as { annotations: object[] }[]
    // Characters, as Python counts them.
    expect(shifted?.annotations).toMatchObject([{ start_index: 3, end_index: 8 }])
    expect(renderItem({ ...message, isRefusal: true, citations: [] }, { include: [] })['content']).toEqual([
      { type: 'refusal', refusal: 'a.csv' },
    ])
    expect(
      renderItem(
        { type: 'function_call', id: 'fc_1', callId: 'c', name: 'f', arguments: '{}', status: 'completed', output: null },
        { include: [] },
      ),
    ).toEqual({
      id: 'fc_1',
      type: 'function_call',
      call_id: 'c',
      name: 'f',
      arguments: '{}',
      status: 'completed',
    })
  })
})
