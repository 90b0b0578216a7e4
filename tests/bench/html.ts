import type { HtmlReport, ReportSection } from '../../scripts/report/html-report.ts'
import type { BenchReport } from './report.ts'
import { meetsThreshold, THRESHOLDS, thresholdText } from './thresholds.ts'

/** Charts of a run of the benchmark: each ratio beside its threshold, then the figures by unit. */
export function benchHtml({ machine, versions, figures, ratios }: BenchReport): HtmlReport {
  const { cores, memoryGiB, cpu, system, startedAt, loadBefore, loadAfter } = machine
  return {
    title: 'Cellblock: benchmark',
    about: [
      `${startedAt} · ${cpu}, ${cores} cores, ${memoryGiB} GiB · ${system} · load ${loadBefore.join(' ')} before, ${loadAfter.join(' ')} after`,
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(' · '),
    ],
    sections: [ratioSection(ratios), ...unitSections(figures)],
  }
}

/** Ratios have different sizes, so the chart shows each as a share of its threshold. */
function ratioSection(ratios: BenchReport['ratios']): ReportSection {
  const entries = Object.entries(ratios)
  const bars = entries.flatMap(([key, value]) => {
    const threshold = THRESHOLDS[key]
    if (threshold === undefined) return []
    const limit = 'atMost' in threshold ? threshold.atMost : threshold.atLeast
    const isMet = meetsThreshold(key, value) === true
    return [{ label: key, value: round(value / limit), note: `${value} (${thresholdText(key)})`, limit: 1, verdict: verdictOf(isMet) }]
  })
  return {
    heading: 'Ratios and their thresholds',
    text: 'The line marks the threshold. A green bar meets it: with ≤ the bar ends before the line, with ≥ it reaches the line.',
    chart: { unit: 'share of the threshold', bars },
    table: { head: ['ratio', 'value', 'threshold'], rows: entries.map(([key, value]) => [key, String(value), thresholdText(key)]) },
  }
}

function unitSections(figures: BenchReport['figures']): ReportSection[] {
  const units = [...new Set(Object.values(figures).map(({ unit }) => unit))]
  return units.map((unit) => {
    const own = Object.entries(figures).filter(([, figure]) => figure.unit === unit)
    const shown = own.filter(([, { median }]) => median > 0)
    return {
      heading: `Figures in ${unit}`,
      text: 'Each bar is the median; the scale is logarithmic.',
      chart: {
        unit,
        scale: 'log',
        bars: shown.map(([label, { median, p99 }]) => ({ label, value: median, note: `${median} (p99 ${p99})` })),
      },
      table: {
        head: ['figure', 'min', 'median', 'p99', 'max', 'runs'],
        rows: own.map(([name, { min, median, p99, max, runs }]) => [name, ...[min, median, p99, max, runs].map(String)]),
      },
    }
  })
}

const verdictOf = (isMet: boolean): 'good' | 'bad' => (isMet ? 'good' : 'bad')
const round = (value: number): number => Number(value.toPrecision(3))
