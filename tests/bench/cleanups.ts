import { constants } from 'node:os'

type Cleanup = () => Promise<unknown>

/** What has to be undone however the run ends: done, failed or interrupted. The last one first; each only once. */
export class Cleanups {
  readonly #open: Cleanup[] = []

  add(cleanup: Cleanup): void {
    this.#open.push(cleanup)
  }

  /** Every cleanup is tried; the first failure is thrown at the end. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let cleanup = this.#open.pop(); cleanup !== undefined; cleanup = this.#open.pop()) {
      await cleanup().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  runOnSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => void this.run().finally(() => process.exit(128 + constants.signals[signal])))
  }
}
