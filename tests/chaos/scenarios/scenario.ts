import type { History } from '../history.ts'

/** A scenario fills histories; its own faults are what a history cannot know. */
export interface Scenario {
  readonly name: string
  /** Ids of the bars that it shows. */
  readonly bars: readonly string[]
  /** Starts real sandboxes: left out of the short form, whose end-to-end suite has the like. */
  readonly needsSandboxes?: boolean
  run(options: ScenarioOptions): Promise<ScenarioResult>
}
export interface ScenarioOptions {
  /** 1 is the full form; the short form of the test suite asks for less. */
  readonly scale: number
  readonly say: (line: string) => void
  /** Jobs that do not end are given up soon: what a mutant leaves behind never will. */
  readonly hurry?: boolean
  /** The operator's word that the engine of this machine may be restarted. */
  readonly mayTouchEngine?: boolean
}
export interface ScenarioResult {
  /** Of every world that was played in, for the checker. */
  readonly histories: readonly History[]
  /** What went wrong besides violations of the guarantees. */
  readonly faults: readonly string[]
  /** Figures for the table, by name. */
  readonly figures: Readonly<Record<string, number>>
}
