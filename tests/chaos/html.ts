import type { HtmlReport } from '../../scripts/report/html-report.ts'
import { summaryOf, type ScenarioRun } from './summary.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Charts of a run of the chaos suite: jobs, injected crashes and violations of each scenario. */
export function chaosHtml(runs: readonly ScenarioRun[], about: readonly string[]): HtmlReport {
  const summary = summaryOf(runs)
  const of = ({ verdicts }: ScenarioRun, what: 'jobs' | 'kills' | 'operations'): number => sum(verdicts.map((verdict) => verdict[what]))
  const violationsOf = ({ verdicts }: ScenarioRun): number => sum(verdicts.map(({ violations }) => violations.length))
  const bars = (what: 'jobs' | 'kills') =>
    runs.map((run) => ({
      label: run.name,
      value: of(run, what),
      note: `${of(run, what)} ${what}, ${violationsOf(run)} violations`,
      verdict: violationsOf(run) === 0 && run.result.failures.length === 0 ? ('good' as const) : ('bad' as const),
    }))
  return {
    title: 'Cellblock: injected crashes and faults',
    about,
    sections: [
      {
        heading: 'All scenarios',
        table: { head: ['figure', 'value'], rows: Object.entries(summary).map(([name, value]) => [name, String(value)]) },
      },
      {
        heading: 'Jobs',
        text: 'Green: the history has no violation and every threshold holds.',
        chart: { unit: 'jobs', bars: bars('jobs') },
      },
      { heading: 'Injected crashes', chart: { unit: 'kills', bars: bars('kills') } },
      {
        heading: 'Scenarios',
        table: {
          head: ['scenario', 'thresholds', 'jobs', 'kills', 'operations', 'violations', 'figures', 'seconds'],
          rows: runs.map((run) => [
            run.name,
            run.thresholds.join(' '),
            ...[of(run, 'jobs'), of(run, 'kills'), of(run, 'operations'), violationsOf(run)].map(String),
            Object.entries(run.result.figures)
              .map(([what, number]) => `${what} ${number}`)
              .join(', '),
            String(Math.round(run.seconds)),
          ]),
        },
      },
    ],
  }
}
