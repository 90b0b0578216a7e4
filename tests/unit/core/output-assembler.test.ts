import { describe, expect, it } from 'vitest'
import { OutputAssembler } from '../../../services/model/executions/output-assembler.ts'
import type { SandboxEvent } from '../../../services/model/executions/events/event-types.ts'

type Payload<E = SandboxEvent> = E extends unknown ? Omit<E, 'seq' | 't'> : never

function assemble(payloads: readonly Payload[], indexes: readonly number[] = [0]): OutputAssembler {
  const assembler = new OutputAssembler(indexes)
  payloads.forEach((payload, seq) => assembler.add({ seq, t: 0, ...payload }))
  return assembler
}
const print = (text: string, name: 'stdout' | 'stderr' = 'stdout', index = 0): Payload => ({
  type: 'stream',
  index,
  name,
  text,
})
const display = (data: Record<string, unknown>, displayId: string | null = null): Payload => ({
  type: 'display',
  index: 0,
  outputType: 'display_data',
  data,
  metadata: {},
  executionCount: null,
  displayId,
})

describe('OutputAssembler', () => {
  it('joins adjacent text of one stream and separates the streams', () => {
    const assembler = assemble([print('a'), print('b'), print('!', 'stderr'), print('c')])
    expect(assembler.cells()[0]?.outputs).toEqual([
      { output_type: 'stream', name: 'stdout', text: 'ab' },
      { output_type: 'stream', name: 'stderr', text: '!' },
      { output_type: 'stream', name: 'stdout', text: 'c' },
    ])
    expect([assembler.stdout, assembler.stderr]).toEqual(['abc', '!'])
  })

  it('replaces every output of a display id on update', () => {
    const assembler = assemble([
      display({ 'text/plain': 'one' }, 'd1'),
      display({ 'text/plain': 'other' }),
      { type: 'update_display', index: 0, displayId: 'd1', data: { 'text/plain': 'two' }, metadata: {} },
    ])
    expect(assembler.cells()[0]?.outputs.map((output) => 'data' in output && output.data['text/plain'])).toEqual(['two', 'other'])
  })

  it('clears at once, or at the next output', () => {
    expect(assemble([print('x'), { type: 'clear_output', index: 0, wait: false }]).cells()[0]?.outputs).toEqual([])
    const waiting = assemble([print('x'), { type: 'clear_output', index: 0, wait: true }])
    expect(waiting.cells()[0]?.outputs).toHaveLength(1)
    const cleared = assemble([print('x'), { type: 'clear_output', index: 0, wait: true }, print('y')])
    expect(cleared.cells()[0]?.outputs).toEqual([{ output_type: 'stream', name: 'stdout', text: 'y' }])
  })

  it('gives a result the count of its cell and maps cells to their notebook index', () => {
    const assembler = assemble(
      [
        { type: 'cell_started', index: 1, executionCount: 7 },
        {
          type: 'display',
          index: 1,
          outputType: 'execute_result',
          data: { 'text/plain': '2' },
          metadata: {},
          executionCount: 7,
          displayId: null,
        },
        { type: 'cell_done', index: 1, status: 'ok', executionCount: 7 },
      ],
      [2, 5],
    )
    expect(assembler.cells()).toEqual([
      {
        index: 5,
        status: 'ok',
        executionCount: 7,
        outputs: [{ output_type: 'execute_result', execution_count: 7, data: { 'text/plain': '2' }, metadata: {} }],
      },
    ])
  })

  const fail = (name: string, index = 0): Payload => ({ type: 'error', index, name, value: 'v', traceback: [] })
  const done = (status: 'ok' | 'error', index = 0): Payload => ({ type: 'cell_done', index, status, executionCount: 1 })

  it('reports the error of the first failed cell, not a displayed error that was handled', () => {
    expect(assemble([fail('Shown'), done('ok')]).error).toBeNull()
    const notebook = [fail('Shown'), done('ok'), fail('Shown', 1), fail('End', 1), done('error', 1), fail('Later', 2), done('error', 2)]
    expect(assemble(notebook, [0, 1, 2]).error?.name).toBe('End')
  })

  it('marks a cell without an end as aborted', () => {
    const assembler = assemble([{ type: 'cell_started', index: 0, executionCount: 1 }, print('x')])
    expect(assembler.cells()[0]?.status).toBe('aborted')
  })
})
