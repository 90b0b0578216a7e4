import type { Reporter, TestCase } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** Part of the JSON report. */
    isRetried?: boolean
  }
}

/** The output of a program ends with what went wrong. */
const lastCharacters = (message: string): string => (message.length > MAX_CHARACTERS ? `…${message.slice(-MAX_CHARACTERS)}` : message)
const MAX_CHARACTERS = 2_000

/** Reports every test that passed only after a retry, because such a test is flaky, and why it failed before. */
export default class RetriedTests implements Reporter {
  readonly #reports: string[] = []

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state !== 'passed' || (test.diagnostic()?.retryCount ?? 0) === 0) return
    test.meta().isRetried = true
    // A passed test keeps the errors of its earlier attempts.
    const reasons = (result.errors ?? []).map(({ message }) => `    ${lastCharacters(message).replaceAll('\n', '\n    ')}`)
    this.#reports.push([`  ${test.module.relativeModuleId} > ${test.fullName}`, ...reasons].join('\n'))
  }

  onTestRunEnd(): void {
    if (this.#reports.length > 0) console.log(`\nPassed only after a retry:\n${this.#reports.join('\n')}`)
  }
}
