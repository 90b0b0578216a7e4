import type { World } from '../world/world.ts'

/** A scenario fills a world's history; its own faults are what the history cannot know. */
export interface Scenario {
  readonly name: string
  /** Ids of the bars that it shows. */
  readonly bars: readonly string[]
  /** `scale` 1 is the full form; the short form of the test suite asks for less. */
  run(options: ScenarioOptions): Promise<ScenarioResult>
}
export interface ScenarioOptions {
  readonly scale: number
  readonly say: (line: string) => void
}
export interface ScenarioResult {
  /** Every world that was played in, for the checker. */
  readonly histories: readonly World['history'][]
  /** What went wrong besides violations of the guarantees. */
  readonly faults: readonly string[]
  /** Figures for the table, by name. */
  readonly figures: Readonly<Record<string, number>>
}
