import { expect, it } from 'vitest'
import { isTimeLimit, verdictOf } from '../../security/mutants/verdict.ts'

const TIMEOUT = { message: 'Test timed out in 5000ms.', isTimeout: true }
const ASSERTION = { message: 'expected 1 to be 2', isTimeout: false }

it.each([
  ['survives', {}, null],
  ['killed', {}, ASSERTION],
  ['timed out', {}, TIMEOUT],
  ['killed', { hangs: true }, TIMEOUT],
  ['survives', { hangs: true }, null],
] as const)('is the verdict "%s" for a mutant %j whose killer fails with %j', (verdict, mutant, failure) => {
  expect(verdictOf(mutant, failure)).toBe(verdict)
})

it('recognises the time limits of tests and hooks, and no failed assertion that names one', () => {
  expect(
    ['TestTimeoutError: Test timed out in 5000ms.\nIf this', 'Error: Hook timed out in 10000ms while waiting'].every(isTimeLimit),
  ).toBe(true)
  expect(isTimeLimit("AssertionError: expected 'Test timed out in 5000ms.' to be 'ended'")).toBe(false)
})
