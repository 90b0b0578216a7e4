export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly success: boolean
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly { readonly status: string }[] }[]
}

/**
 * Counts of a vitest JSON report. A file that failed without a failing test (it could not be loaded, a hook threw) counts as
 * one failure, and so does a run that exits non-zero or writes no report: nothing that went wrong counts as nothing.
 */
export function countTests(report: string | undefined, exitCode: number): TestCounts {
  if (report === undefined) return { passed: 0, failed: 1 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as VitestReport
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  ).length
  const failed = numFailedTests + brokenFiles
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed }
}

/** The last line of `npm test`, alone on its line. */
export const summaryLine = (counts: readonly TestCounts[]): string => {
  const sum = (key: keyof TestCounts): number => counts.reduce((total, count) => total + count[key], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed`
}
