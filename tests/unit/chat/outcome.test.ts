import { describe, expect, it } from 'vitest'
import type { ExecutionResult } from '../../../services/model/executions/execution.ts'
import { callStatusOf } from '../../../services/workers/turn/outcome/call-status.ts'
import { logsOf } from '../../../services/workers/turn/outcome/logs.ts'
import { modelTextOf } from '../../../services/workers/turn/outcome/model-text.ts'
import { trimText } from '../../../services/model/trim-text.ts'
import { emptyResult } from '../../support/finish-execution.ts'

const result = (change: Partial<ExecutionResult>): ExecutionResult => ({ ...emptyResult, ...change })

describe('logsOf', () => {
  it('returns streams, results and the error in order', () => {
    const outputs = [
      { output_type: 'stream', name: 'stdout', text: 'one\n' },
      { output_type: 'stream', name: 'stderr', text: 'careful' },
      { output_type: 'display_data', data: { 'image/png': 'AAAA', 'text/plain': '<Figure>' }, metadata: {} },
      { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': ['4', '2'] }, metadata: {} },
      { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[0;31mE\u001b[0m: v'] },
    ] as const
    expect(logsOf(result({ cells: [{ index: 0, status: 'error', executionCount: 1, outputs }] }))).toBe('one\ncareful\n42\nE: v')
  })

  it('truncates long output to head and tail', () => {
    const logs = logsOf(
      result({
        cells: [
          {
            index: 0,
            status: 'ok',
            executionCount: 1,
            outputs: [{ output_type: 'stream', name: 'stdout', text: `head${'x'.repeat(100_000)}tail` }],
          },
        ],
      }),
    )
    expect(logs.length).toBeLessThan(34_000)
    expect(logs).toMatch(/^head[^]*characters left out[^]*tail$/)
  })
})

describe('modelTextOf', () => {
  it('contains the outcome, the output and the files', () => {
    const files = [{ id: 'f', path: 'a.csv', bytes: 3, sha256: '', mime: 'text/csv', isNew: true, modifiedFrom: null }]
    expect(
      modelTextOf(
        { status: 'succeeded', reason: null },
        result({ stdout: '42\n', files, lost: [{ what: 'file "b"', reason: 'Too big.' }] }),
      ),
    ).toBe('status: succeeded\nstdout:\n42\nfiles:\n- /mnt/data/a.csv (3 bytes, new)\nmissing:\n- file "b": Too big.')
  })

  it.each([
    ['oom', 'more memory'],
    ['deadline', 'ran longer'],
    ['sandbox_lost', 'sandbox was lost'],
  ] as const)('gives advice for %s', (reason, advice) => {
    expect(modelTextOf({ status: 'failed', reason }, result({}))).toContain(advice)
  })

  it('contains a displayed error once, in addition to the final one', () => {
    const shown = { output_type: 'error', ename: 'ReprError', evalue: 'no text', traceback: [] } as const
    const end = { output_type: 'error', ename: 'KeyError', evalue: 'k', traceback: [] } as const
    const cell = (outputs: readonly (typeof shown | typeof end)[]) => [{ index: 0, status: 'ok', executionCount: 1, outputs }] as const
    expect(modelTextOf({ status: 'succeeded', reason: null }, result({ cells: cell([shown]) }))).toBe(
      'status: succeeded\nresult:\nReprError: no text',
    )
    const error = { name: 'KeyError', value: 'k', traceback: [] }
    expect(modelTextOf({ status: 'failed', reason: 'error' }, result({ cells: cell([shown, end]), error }))).toBe(
      'status: failed\nresult:\nReprError: no text\nerror: KeyError: k',
    )
  })

  it('states that nothing was printed', () => {
    expect(modelTextOf({ status: 'succeeded', reason: null }, result({}))).toContain('printed nothing')
  })
})

describe('callStatusOf', () => {
  it.each([
    ['succeeded', null, 'completed'],
    ['failed', 'error', 'completed'],
    ['failed', 'oom', 'failed'],
    ['failed', 'sandbox_lost', 'failed'],
    ['timed_out', 'deadline', 'failed'],
    ['cancelled', 'caller', 'incomplete'],
  ] as const)('maps %s, %s to %s', (status, reason, expected) => {
    expect(callStatusOf({ status, reason })).toBe(expected)
  })
})

describe('trimText', () => {
  it('never splits a character', () => {
    for (let max = 2; max < 40; max += 1) expect(trimText('😀'.repeat(40), max).isWellFormed()).toBe(true)
  })
})
