import type { Reporter, TestCase } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** Stands in the JSON report. */
    isSecondTry?: boolean
  }
}

/** Names and marks every test that passed only on a second try: such a pass is a finding, not a success. */
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
