import { describe, expect, it } from 'vitest'
import { countTests, suiteSeconds, summaryLine } from '../../../scripts/test-results.ts'

const file = (status: string, ...results: string[]) => ({ status, assertionResults: results.map((result) => ({ status: result })) })
const report = (passed: number, failed: number, ...testResults: ReturnType<typeof file>[]) =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, success: failed === 0, testResults })

describe('countTests', () => {
  it('counts what passed and failed', () => {
    expect(countTests(report(2, 1, file('failed', 'passed', 'failed'), file('passed', 'passed')), 1)).toEqual({
      passed: 2,
      failed: 1,
      retriedPasses: 0,
    })
  })

  it('counts a file that could not be loaded', () => {
    expect(countTests(report(1, 0, file('passed', 'passed'), file('failed')), 1)).toEqual({ passed: 1, failed: 1, retriedPasses: 0 })
  })

  it('counts a non-zero exit code without a failed test as one failure', () => {
    expect(countTests(report(1, 0, file('passed', 'passed')), 1)).toEqual({ passed: 1, failed: 1, retriedPasses: 0 })
  })

  it('counts a run without a report as a failure', () => {
    expect(countTests(undefined, 0)).toEqual({ passed: 0, failed: 1, retriedPasses: 0 })
  })
})

describe('marks of retried tests', () => {
  it('are counted', () => {
    const again = { status: 'passed', meta: { isRetried: true } }
    const found = {
      numPassedTests: 2,
      numFailedTests: 0,
      success: true,
      testResults: [{ status: 'passed', assertionResults: [{ status: 'passed', meta: {} }, again] }],
    }
    expect(countTests(JSON.stringify(found), 0)).toEqual({ passed: 2, failed: 0, retriedPasses: 1 })
  })
})

describe('suiteSeconds', () => {
  it('measures each suite from its first start to its last end', () => {
    const testFile = (name: string, startTime: number, endTime: number) => ({ ...file('passed'), name, startTime, endTime })
    const found = {
      testResults: [
        testFile('/clone/tests/unit/a.test.ts', 1_000, 3_000),
        testFile('/clone/tests/unit/b/c.test.ts', 2_000, 9_000),
        testFile('/clone/tests/infra/d.test.ts', 4_000, 5_000),
      ],
    }
    expect(suiteSeconds(JSON.stringify(found))).toEqual([
      { suite: 'unit', seconds: 8 },
      { suite: 'infra', seconds: 1 },
    ])
    expect(suiteSeconds(undefined)).toEqual([])
  })
})

describe('summaryLine', () => {
  it('adds the counts of all suites', () => {
    expect(
      summaryLine([
        { passed: 4, failed: 0 },
        { passed: 120, failed: 2 },
      ]),
    ).toBe('124 passed, 2 failed')
  })
})
