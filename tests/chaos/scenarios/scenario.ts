import type { History } from '../history.ts'

/** A scenario records histories for the checker and reports failures that a history cannot show. */
export interface Scenario {
  readonly name: string
  /** The ids of the thresholds that it measures. */
  readonly thresholds: readonly string[]
  /** True if it starts real sandboxes. The short form skips it, because the end-to-end suite covers the same. */
  readonly needsSandboxes?: boolean
  run(options: ScenarioOptions): Promise<ScenarioResult>
}
export interface ScenarioOptions {
  /** 1 is the full form; the test suite runs a small fraction. */
  readonly scale: number
  readonly log: (line: string) => void
  /** Shortens timeouts for jobs that do not end; for mutants, whose jobs may never end. */
  readonly failFast?: boolean
  /** True if the operator allows a restart of this machine's container engine. */
  readonly allowEngineRestart?: boolean
}
export interface ScenarioResult {
  /** The history of every harness, for the checker. */
  readonly histories: readonly History[]
  /** Failures other than violations of the guarantees. */
  readonly failures: readonly string[]
  /** Figures for the table, by name. */
  readonly figures: Readonly<Record<string, number>>
}
