import { thresholdText, meetsThreshold } from './thresholds.ts'
import type { Machine } from './machine.ts'
import type { Figure } from './statistics.ts'

export interface BenchReport {
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  /** Runs of each figure. */
  readonly runs: Readonly<Record<string, number>>
  readonly figures: Readonly<Record<string, Figure>>
  readonly ratios: Readonly<Record<string, number>>
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n')

const verdict = (isMet: boolean | null): string => (isMet === null ? '' : isMet ? 'met' : 'missed')

/** The report as Markdown. */
export function reportText({ machine, versions, figures, ratios }: BenchReport): string {
  const figureRows = Object.entries(figures).map(([name, figure]) => [
    name,
    figure.unit,
    ...[figure.min, figure.median, figure.p99, figure.max, figure.runs].map(String),
  ])
  const ratioRows = Object.entries(ratios).map(([key, value]) => [
    key,
    String(value),
    thresholdText(key),
    verdict(meetsThreshold(key, value)),
  ])
  const { cores, memoryGiB, cpu, system, startedAt, loadBefore, loadAfter } = machine
  return `${[
    `${startedAt} · ${cpu}, ${cores} cores, ${memoryGiB} GiB · ${system} · load ${loadBefore.join(' ')} before, ${loadAfter.join(' ')} after`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(' · '),
    table(['figure', 'unit', 'min', 'median', 'p99', 'max', 'runs'], figureRows),
    table(['ratio', 'value', 'threshold', 'verdict'], ratioRows),
  ].join('\n\n')}\n`
}
