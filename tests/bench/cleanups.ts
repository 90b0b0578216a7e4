import { constants } from 'node:os'

type Cleanup = () => Promise<unknown>

/** Cleanups for every end of the run: success, failure or interruption. They run once each, last registered first. */
export class Cleanups {
  readonly #open: Cleanup[] = []

  add(cleanup: Cleanup): void {
    this.#open.push(cleanup)
  }

  /** Runs every cleanup and throws the first failure at the end. */
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
