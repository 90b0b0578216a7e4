import { describe, expect, it } from 'vitest'
import { METRIC_NAMES, METRICS } from '../../../services/model/metrics.ts'
import { LOG_LEVELS } from '../../../services/ports/telemetry.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { inTrace, parseTraceparent } from '../../../services/model/trace.ts'
import { isLogged, logLine, metricLine } from '../../../services/adapters/storage/json-log.ts'

const at = new Date('2026-11-21T12:00:00.000Z')
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>
const execution = (change: Record<string, string | number | null> = {}): WideEvent => ({
  event: 'execution',
  outcome: 'succeeded',
  reason: null,
  queue_wait_ms: 4,
  run_ms: 7.5,
  total_ms: 20,
  ...change,
})

/** Reads a line as CloudWatch does: metric values and dimensions are at the root. */
function readMetrics(line: string): Record<string, { value: unknown; unit: string; dimensions: Record<string, unknown> }> {
  const record = parse(line)
  const { CloudWatchMetrics = [] } = (record['_aws'] ?? {}) as {
    CloudWatchMetrics?: { Namespace: string; Dimensions: [string[]]; Metrics: { Name: string; Unit: string }[] }[]
  }
  return Object.fromEntries(
    CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
      Metrics.map(({ Name, Unit }) => [
        Name,
        { value: record[Name], unit: Unit, dimensions: Object.fromEntries(Dimensions[0].map((key) => [key, record[key]])) },
      ]),
    ),
  )
}

describe('a log line', () => {
  it('is one line of JSON with time, level and trace', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const line = inTrace(parseTraceparent(traceparent), () => logLine({ event: 'x', outcome: 'ok', detail: 'two\nlines\u2028' }, at))
    expect(line.split('\n')).toHaveLength(1)
    expect(parse(line)).toMatchObject({
      timestamp: '2026-11-21T12:00:00.000Z',
      level: 'INFO',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      parent_id: '00f067aa0ba902b7',
      event: 'x',
    })
  })
  it.each([
    ['an answer with 5xx', { event: 'http.request', outcome: 'failed' }, 'ERROR'],
    ['a lost sandbox', execution({ outcome: 'failed', reason: 'sandbox_lost' }), 'ERROR'],
    ['a message that failed', { event: 'message', outcome: 'error' }, 'ERROR'],
    ['a start without capacity', { event: 'sandbox_start', outcome: 'capacity' }, 'ERROR'],
    ['code that failed by itself', execution({ outcome: 'failed', reason: 'error' }), 'INFO'],
    ['a refused request', { event: 'http.request', outcome: 'refused' }, 'INFO'],
  ])('%s has the expected level', (_, event, level) => {
    expect(parse(logLine(event, at))['level']).toBe(level)
  })
  it.each([
    ['a failure', { event: 'message', outcome: 'error' }, ['debug', 'info', 'warn', 'error']],
    ['a success with metrics, which alarms compare with failures', execution(), ['debug', 'info', 'warn', 'error']],
    ['a success without metrics', { event: 'storage', outcome: 'ok' }, ['debug', 'info']],
  ])('of %s is written at the expected levels', (_, event, levels) => {
    expect(LOG_LEVELS.filter((level) => isLogged(event, level))).toEqual(levels)
  })
})

describe('a metric line', () => {
  it('contains the figures of an execution with the stage as dimension', () => {
    expect(readMetrics(metricLine(execution(), at, 'prod'))).toEqual({
      QueueWait: { value: 4, unit: 'Milliseconds', dimensions: { stage: 'prod' } },
      RunTime: { value: 7.5, unit: 'Milliseconds', dimensions: { stage: 'prod' } },
      ExecutionTime: { value: 20, unit: 'Milliseconds', dimensions: { stage: 'prod' } },
      Executions: { value: 1, unit: 'Count', dimensions: { stage: 'prod' } },
    })
    expect(parse(metricLine(execution(), at, 'prod'))).toMatchObject({
      _aws: { Timestamp: at.getTime() },
      event: 'execution',
      level: 'INFO',
    })
  })
  it('has the tier as a dimension for pools', () => {
    const line = metricLine({ event: 'pool', outcome: 'counted', tier: '4g', ready: 0, missing: 2 }, at, 'dev')
    expect(readMetrics(line)).toEqual({
      PoolReady: { value: 0, unit: 'Count', dimensions: { stage: 'dev', tier: '4g' } },
      PoolMissing: { value: 2, unit: 'Count', dimensions: { stage: 'dev', tier: '4g' } },
    })
  })
  it('omits a missing figure, and is a plain line without figures', () => {
    expect(Object.keys(readMetrics(metricLine(execution({ queue_wait_ms: null }), at, 'prod')))).not.toContain('QueueWait')
    expect(parse(metricLine({ event: 'reconcile', outcome: 'ok' }, at, 'prod'))).not.toHaveProperty('_aws')
  })
  it('counts a start that an execution awaits as cold, and a start for the pool as not cold', () => {
    const start = (isPool: boolean) => ({ event: 'sandbox_start', outcome: 'ready', is_pool: isPool, start_ms: 900 })
    expect(Object.keys(readMetrics(metricLine(start(false), at, 'prod')))).toEqual(['SandboxStart', 'ColdStart'])
    expect(Object.keys(readMetrics(metricLine(start(true), at, 'prod')))).toEqual(['SandboxStart'])
  })
  it('measures the time of a claim that found a sandbox only', () => {
    const claim = (outcome: string) => readMetrics(metricLine({ event: 'claim', outcome, claim_ms: 3 }, at, 'prod'))
    expect(claim('live')).toEqual({ Claim: { value: 3, unit: 'Milliseconds', dimensions: { stage: 'prod' } } })
    expect(claim('starting')).toEqual({})
  })
  it('no metric has the tenant as a dimension, which would cost per tenant', () => {
    expect(METRIC_NAMES.filter((name) => 'by' in METRICS[name] && METRICS[name].by !== 'tier')).toEqual([])
  })
})
