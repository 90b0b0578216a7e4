export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

export interface SuiteCounts extends TestCounts {
  /** Passed tests that needed a retry. */
  readonly secondTries: number
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly success: boolean
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly VitestResult[] }[]
}

interface VitestResult {
  readonly status: string
  /** `tests/setup/second-tries.ts` marks them. */
  readonly meta?: { readonly isSecondTry?: boolean }
}

/**
 * Counts of a vitest JSON report. A file that failed without a failing test (it did not load, a hook threw) counts as one failure, and so does
 * a run that exits non-zero or writes no report.
 */
export function countTests(report: string | undefined, exitCode: number): SuiteCounts {
  if (report === undefined) return { passed: 0, failed: 1, secondTries: 0 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as VitestReport
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  ).length
  const failed = numFailedTests + brokenFiles
  const secondTries = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ meta }) => meta?.isSecondTry === true).length
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed, secondTries }
}

/** The last line of `npm test`, alone on its line. */
export const summaryLine = (counts: readonly TestCounts[]): string => {
  const sum = (key: keyof TestCounts): number => counts.reduce((total, count) => total + count[key], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed`
}
