import type { Verdict, Violation } from './check-history.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'

export interface ScenarioRun {
  readonly name: string
  readonly thresholds: readonly string[]
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

/** Sums the figures of all scenarios. */
export function summaryOf(runs: readonly ScenarioRun[]): Summary {
  const verdicts = runs.flatMap((one) => one.verdicts)
  const violations = verdicts.flatMap((verdict) => verdict.violations)
  const count = (...kinds: readonly Violation[]): number => violations.filter(({ violation }) => kinds.includes(violation)).length
  const figure = (name: string): number => sum(runs.map(({ result }) => result.figures[name] ?? 0))
  return {
    kills: sum(verdicts.map(({ kills }) => kills)) + figure('killed_processes'),
    jobs: sum(verdicts.map(({ jobs }) => jobs)),
    lost: count('lost'),
    duplicated: count('ended_twice'),
    run_twice: count('ran_twice'),
    races: figure('races'),
    violations: violations.length,
    operations: sum(verdicts.map(({ operations }) => operations)),
  }
}

/** Formats one scenario as a row of the table in `docs/reliability.md`. */
export function rowOf({ name, thresholds, seconds, result, verdicts }: ScenarioRun): string {
  const total = (of: (verdict: Verdict) => number): number => sum(verdicts.map(of))
  const figures = Object.entries(result.figures).map(([what, number]) => `${what} ${number}`)
  const cells = [
    name,
    thresholds.join(' '),
    total((verdict) => verdict.jobs),
    total((verdict) => verdict.kills),
    total((verdict) => verdict.operations),
    total((verdict) => verdict.violations.length),
    figures.join(', '),
    Math.round(seconds),
  ]
  return `| ${cells.join(' | ')} |\n`
}
