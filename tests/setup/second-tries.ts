import type { Reporter, TestCase } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** Part of the JSON report. */
    isSecondTry?: boolean
  }
}

/** Reports every test that passed only after a retry, because such a test is flaky. */
export default class SecondTries implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.result().state !== 'passed' || (test.diagnostic()?.retryCount ?? 0) === 0) return
    test.meta().isSecondTry = true
    this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.#names.length > 0) console.log(`\nPassed on a second try only:\n${this.#names.map((name) => `  ${name}`).join('\n')}`)
  }
}
