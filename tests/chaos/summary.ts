import type { Verdict, Violation } from './check-history.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'

export interface Played {
  readonly name: string
  readonly bars: readonly string[]
  readonly seconds: number
  readonly result: ScenarioResult
  readonly verdicts: readonly Verdict[]
}

export interface Summary {
  readonly kills: number
  readonly jobs: number
  readonly lost: number
  readonly duplicated: number
  readonly run_twice: number
  readonly races: number
  readonly violations: number
  readonly operations: number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The figures of all scenarios together. */
export function summaryOf(played: readonly Played[]): Summary {
  const verdicts = played.flatMap((one) => one.verdicts)
  const found = verdicts.flatMap((verdict) => verdict.found)
  const count = (...kinds: readonly Violation[]): number => found.filter(({ violation }) => kinds.includes(violation)).length
  const figure = (name: string): number => sum(played.map(({ result }) => result.figures[name] ?? 0))
  return {
    kills: sum(verdicts.map(({ kills }) => kills)) + figure('killed_processes'),
    jobs: sum(verdicts.map(({ jobs }) => jobs)),
    lost: count('lost'),
    duplicated: count('ended_twice'),
    run_twice: count('ran_twice'),
    races: figure('races'),
    violations: found.length,
    operations: sum(verdicts.map(({ operations }) => operations)),
  }
}

/** One scenario as a row of the table in `docs/reliability.md`. */
export function rowOf({ name, bars, seconds, result, verdicts }: Played): string {
  const total = (of: (verdict: Verdict) => number): number => sum(verdicts.map(of))
  const figures = Object.entries(result.figures).map(([what, number]) => `${what} ${number}`)
  const cells = [
    name,
    bars.join(' '),
    total((verdict) => verdict.jobs),
    total((verdict) => verdict.kills),
    total((verdict) => verdict.operations),
    total((verdict) => verdict.found.length),
    figures.join(', '),
    Math.round(seconds),
  ]
  return `| ${cells.join(' | ')} |\n`
}
