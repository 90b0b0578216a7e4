import type { HtmlReport, ReportSection } from '../report/html-report.ts'
import { total, type Line, type Usage } from './cost/usage.ts'
import { PEERS, type Peer } from './peer-prices.ts'

const rounded = (usd: number): number => Number(usd.toPrecision(3))
const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`

interface CostFigures {
  readonly asOf: string
  readonly region: string
  readonly usage: Usage
  readonly turns: { readonly lines: readonly Line[]; readonly total: number }
  readonly month: { readonly lines: readonly Line[]; readonly total: number }
  readonly peers: Readonly<Record<Peer, number>>
  readonly sandboxTime: { readonly ours: number; readonly peers: Readonly<Record<Peer, number>> }
}

/** Charts of the cost model: turns, an idle month, and the same sandboxes at other providers. */
export function costHtml({ usage, turns, month, peers, sandboxTime, region, asOf }: CostFigures): HtmlReport {
  const sandboxes = total(turns.lines.filter(({ name }) => ['start', 'run', 'idle hold'].includes(name)))
  return {
    title: 'Cellblock: cost',
    about: [
      `List prices of ${region} in US dollars, read on ${asOf}, without model tokens and taxes.`,
      `${usage.turns} turns, ${usage.turnsPerContainer} in each container of tier ${usage.tier} on ${usage.architecture}, ${usage.runSeconds} s of code each.`,
    ],
    sections: [
      linesSection(`${usage.turns} turns: ${dollars(turns.total)}`, turns.lines),
      linesSection(`An idle month: ${dollars(month.total)}`, month.lines),
      providersSection('The sandboxes of the same turns at other providers', sandboxes, peers),
      providersSection('Bare sandbox time, in sequence, without idle time', sandboxTime.ours, sandboxTime.peers),
    ],
  }
}

const linesSection = (heading: string, lines: readonly Line[]): ReportSection => ({
  heading,
  chart: { unit: 'USD', bars: lines.map(({ name, usd }) => ({ label: name, value: rounded(usd), note: dollars(usd) })) },
  table: { head: ['part', 'USD', 'calculation'], rows: lines.map(({ name, usd, how }) => [name, dollars(usd), how]) },
})

const providersSection = (heading: string, ours: number, peers: Readonly<Record<Peer, number>>): ReportSection => ({
  heading,
  chart: {
    unit: 'USD',
    bars: [
      { label: 'Cellblock', value: rounded(ours), note: dollars(ours), verdict: 'good' },
      ...PEERS.map((peer) => ({ label: peer, value: rounded(peers[peer]), note: dollars(peers[peer]) })),
    ],
  },
})
