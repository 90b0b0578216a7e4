import { expect, it } from 'vitest'
import { scriptResult } from '../../../services/wires/plugin/script-result.ts'
import { emptyResult } from '../../../services/model/executions/empty-result.ts'
import type { ExecutionResult } from '../../../services/model/executions/execution.ts'
import { executionRow, T0 } from '../../support/rows.ts'

const result = (change: Partial<ExecutionResult> = {}): ExecutionResult => ({ ...emptyResult(executionRow(), T0), ...change })
const failure = (name: string, value: string) => result({ error: { name, value, traceback: [`\u001b[31m${name}\u001b[0m: ${value}`] } })

it.each([
  ['success', { status: 'succeeded', reason: null }, result({ stdout: 'a' }), false, { stdout: 'a\n', stderr: '', returncode: 0 }],
  ['an error', { status: 'failed', reason: 'error' }, failure('ValueError', 'x'), false, { stderr: 'ValueError: x\n', returncode: 1 }],
  ['sys.exit()', { status: 'failed', reason: 'error' }, failure('SystemExit', ''), false, { stderr: '', returncode: 0 }],
  ['sys.exit(300)', { status: 'failed', reason: 'error' }, failure('SystemExit', '300'), false, { stderr: '', returncode: 44 }],
  ['sys.exit("why")', { status: 'failed', reason: 'error' }, failure('SystemExit', 'why'), false, { returncode: 1 }],
  [
    'no time',
    { status: 'timed_out', reason: 'deadline' },
    result(),
    false,
    { stderr: expect.stringContaining('30 seconds'), returncode: 124 },
  ],
  ['being cut off', { status: 'cancelled', reason: 'caller' }, result({ stdout: 'a\n' }), true, { stdout: 'a\n', returncode: 124 }],
  ['being cut off before its end is known', { status: 'running', reason: null }, null, true, { returncode: 124 }],
  ['no memory', { status: 'failed', reason: 'oom' }, result(), false, { stderr: expect.stringContaining('more memory'), returncode: 137 }],
  ['a lost sandbox', { status: 'failed', reason: 'sandbox_lost' }, null, false, { returncode: 137 }],
] as const)('reports %s as a shell does', (_, row, outcome, isCutOff, expected) => {
  expect(scriptResult(row, outcome, isCutOff)).toMatchObject(expected)
})

it('names missing output and truncates long output', () => {
  const outcome = scriptResult(
    { status: 'succeeded', reason: null },
    result({ stdout: 'x'.repeat(200_000), lost: [{ what: 'stdout', reason: 'Too long.' }] }),
    false,
  )
  expect(outcome.stdout.length).toBeLessThan(50_100)
  expect(outcome.stdout).toContain('characters left out')
  expect(outcome.stderr).toBe('[not there: stdout. Too long.]\n')
})
