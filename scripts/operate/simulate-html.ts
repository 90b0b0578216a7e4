import type { HtmlReport, ReportSection } from '../report/html-report.ts'
import type { BurstReport } from './simulate/burst.ts'
import type { DeparturesReport } from './simulate/departures.ts'
import type { PoolReport } from './simulate/pool.ts'
import type { SteadyReport } from './simulate/steady.ts'

export interface SimulationReport {
  readonly steady: SteadyReport | null
  readonly burst: BurstReport | null
  readonly pool: PoolReport | null
  readonly departures: DeparturesReport | null
  readonly thresholds: readonly { readonly what: string; readonly holds: boolean }[]
}

const seconds = (ms: number): number => Number((ms / 1000).toPrecision(3))

/** Charts of a simulation: latencies at steady load, in a burst and of a pool, and every threshold. */
export const simulationHtml = ({ steady, burst, pool, departures, thresholds }: SimulationReport): HtmlReport => ({
  title: 'Cellblock: simulated load on AWS',
  about: ["The orchestrator's steps against simulated AWS limits, on a simulated clock."],
  sections: [
    {
      heading: 'Thresholds',
      table: { head: ['threshold', 'result'], rows: thresholds.map(({ what, holds }) => [what, holds ? 'met' : 'missed']) },
    },
    ...(steady === null ? [] : steadySections(steady)),
    ...(burst === null ? [] : [burstSection(burst)]),
    ...(pool === null ? [] : [poolSection(pool)]),
    ...(departures === null ? [] : [departuresSection(departures)]),
  ],
})

const steadySections = (steady: SteadyReport): readonly ReportSection[] => [
  {
    heading: `${steady.live_containers} containers at steady load`,
    text: `${steady.starts_per_second} starts and ${steady.ecs_reads_per_second} reads of ECS per second.`,
    chart: {
      unit: 's',
      bars: [
        { label: 'first execution, p50', value: seconds(steady.first_execution_ms.p50) },
        { label: 'first execution, p99', value: seconds(steady.first_execution_ms.p99) },
        { label: 'dead sandbox found, p50', value: seconds(steady.dead_sandbox_ms.p50) },
        { label: 'dead sandbox found, max', value: seconds(steady.dead_sandbox_ms.max), limit: 60 },
        { label: 'pass of the reconciler, p99', value: seconds(steady.reconciler_pass_ms.p99) },
      ],
    },
  },
  {
    heading: 'Concurrent functions, maximum',
    chart: { unit: 'functions', bars: Object.entries(steady.lambda_peak).map(([label, value]) => ({ label, value })) },
  },
  {
    heading: 'Executions and refused calls',
    table: {
      head: ['what', 'count'],
      rows: [
        ...Object.entries(steady.executions).map(([outcome, count]) => [`executions: ${outcome.replaceAll('_', ' ')}`, String(count)]),
        ...Object.entries(steady.throttled).map(([what, count]) => [`throttled: ${what.replaceAll('_', ' ')}`, String(count)]),
        ['functions ended at their time-out', String(steady.timed_out)],
        ['dead letters', String(steady.dead_letters)],
      ],
    },
  },
]

const burstSection = (burst: BurstReport): ReportSection => ({
  heading: `A burst of ${burst.claims} claims`,
  text: `All starts accepted after ${burst.drained_seconds} s, 98 % of them at ${burst.starts_per_second} per second; ${burst.failed_executions} failed executions, ${burst.throttled_functions} throttled functions.`,
  chart: {
    unit: 's',
    bars: [
      { label: 'first execution, p50', value: seconds(burst.first_execution_ms.p50) },
      { label: 'first execution, p99', value: seconds(burst.first_execution_ms.p99) },
      { label: 'all starts accepted', value: burst.drained_seconds },
    ],
  },
})

const poolSection = (pool: PoolReport): ReportSection => ({
  heading: `A pool of ${pool.size} sandboxes, from empty`,
  text: `${pool.starts_per_second} starts per second, ${pool.overshoot} starts too many.`,
  chart: {
    unit: 's',
    bars: [
      { label: '98 % of the starts accepted', value: pool.requested_seconds },
      { label: 'all sandboxes ready', value: pool.ready_seconds },
    ],
  },
})

const departuresSection = ({ alone_ms: alone, beside_ms: beside, ...report }: DeparturesReport): ReportSection => ({
  heading: 'Departing clients of one tenant',
  text: `Its dropped streams hold at most ${report.held_max} of ${report.functions} functions of the API; calls of ${report.clients} other tenants:`,
  chart: {
    unit: 's',
    bars: [
      { label: 'without them, p50', value: seconds(alone.p50) },
      { label: 'without them, p99', value: seconds(alone.p99) },
      { label: 'beside them, p50', value: seconds(beside.p50) },
      { label: 'beside them, p99', value: seconds(beside.p99), limit: seconds(2 * alone.p99) },
    ],
  },
})
