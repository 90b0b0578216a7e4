export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

export interface SuiteCounts extends TestCounts {
  /** Passed tests that needed a retry. */
  readonly retriedPasses: number
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly success: boolean
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name?: string
    /** Epoch ms. */
    readonly startTime?: number
    readonly endTime?: number
    readonly status: string
    readonly assertionResults: readonly VitestResult[]
  }[]
}

interface VitestResult {
  readonly status: string
  /** `tests/setup/retried-tests.ts` marks them. */
  readonly meta?: { readonly isRetried?: boolean }
}

/**
 * Counts of a vitest JSON report. A file that failed without a failing test (it did not load, a hook threw) counts as one failure, and so does
 * a run that exits non-zero or writes no report.
 */
export function countTests(report: string | undefined, exitCode: number): SuiteCounts {
  if (report === undefined) return { passed: 0, failed: 1, retriedPasses: 0 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as VitestReport
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  ).length
  const failed = numFailedTests + brokenFiles
  const retriedPasses = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ meta }) => meta?.isRetried === true).length
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed, retriedPasses }
}

/** Wall-clock seconds of each suite (`tests/<suite>/`) of a vitest JSON report, from its first file's start to its last file's end. */
export function suiteSeconds(report: string | undefined): readonly { readonly suite: string; readonly seconds: number }[] {
  if (report === undefined) return []
  const spans = new Map<string, { start: number; end: number }>()
  for (const { name = '', startTime = 0, endTime = startTime } of (JSON.parse(report) as VitestReport).testResults) {
    const suite = /[/\\]tests[/\\]([^/\\]+)[/\\]/.exec(name)?.[1]
    if (suite === undefined) continue
    const span = spans.get(suite) ?? { start: startTime, end: endTime }
    spans.set(suite, { start: Math.min(span.start, startTime), end: Math.max(span.end, endTime) })
  }
  return [...spans].map(([suite, { start, end }]) => ({ suite, seconds: Math.round((end - start) / 1000) }))
}

/** The last line of `npm test`, alone on its line. */
export const summaryLine = (counts: readonly TestCounts[]): string => {
  const sum = (key: keyof TestCounts): number => counts.reduce((total, count) => total + count[key], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed`
}
