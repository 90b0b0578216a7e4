import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionOf, measure, METRIC_NAMES, type MetricName } from '../../services/model/metrics.ts'
import type { WideEvent } from '../../services/model/wide-event.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

type Line = Readonly<Record<string, string | number | boolean | null | undefined>>
let server: LocalServerProcess
// No warm pool, so that a turn uses every service: its first code waits for a start.
beforeAll(async () => void (server = await startServer({ env: { CELLBLOCK_POOL: '0', CELLBLOCK_LOG: 'events' } })))
afterAll(() => server.stop())

const lines = (): Line[] =>
  server
    .said()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
const ofTrace = (id: string) => lines().filter((line) => line['trace_id'] === id)
const traceIdOf = (header: string | null) => /^00-([0-9a-f]{32})-[0-9a-f]{16}-0[01]$/.exec(header ?? '')?.[1]
const ask = async (input: string, headers: Record<string, string> = {}) => {
  const answer = await server.native.call('POST', '/v1/responses', { model: 'demo', input, tools: [INTERPRETER] }, headers)
  const body = (await answer.json()) as { id: string; status: string; output: { type: string; container_id?: string }[] }
  expect(body.status).toBe('completed')
  return { header: answer.headers.get('traceresponse'), ...body }
}
const INTERPRETER = { type: 'code_interpreter', container: { type: 'auto' } }
const CODE = '```python\nprint(6 * 7)\n```'

describe('a turn with code', () => {
  it('writes one trace id in every log line of every service, from the caller to the sandbox and back', async () => {
    const traceId = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
    const answered = await ask(CODE, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
    expect(traceIdOf(answered.header)).toBe(traceId)
    const container = answered.output.find(({ type }) => type === 'code_interpreter_call')?.container_id
    await expect.poll(() => ofTrace(traceId).map(({ event }) => event)).toContain('http.request')

    // Each service logged: API, chat, run, place, and the sandbox through the supervisor.
    const mine = ofTrace(traceId)
    expect(new Set(mine.map(({ event }) => event))).toEqual(new Set(['http.request', 'turn_step', 'claim', 'sandbox_start', 'execution']))
    expect(mine.find(({ event }) => event === 'execution')).toMatchObject({
      sandbox_trace_id: traceId,
      response_id: answered.id,
      container,
    })

    // No line of this turn has another trace id or none.
    const sandbox = mine.find(({ event }) => event === 'execution')?.['sandbox']
    const isOfTurn = (line: Line) =>
      Object.values(line).some((value) => typeof value === 'string' && [answered.id, container, sandbox].includes(value))
    const linesOfOtherTraces = lines().filter((line) => isOfTurn(line) && line['trace_id'] !== traceId)
    expect(linesOfOtherTraces).toEqual([])

    // Each unit of work is a child span, and only the first has the caller's span as its parent.
    const spans = new Map(mine.map((line) => [line['span_id'], line['parent_id']]))
    expect(spans.size).toBeGreaterThan(3)
    expect(spans.get(mine.find(({ event }) => event === 'http.request')?.['span_id'])).toBe('00f067aa0ba902b7')
  })

  it('gets a new trace when the caller sends none or an invalid one', async () => {
    const [plain, forged] = [await ask('hello'), await ask('hello', { traceparent: '00-x"}{-1' })]
    const ids = [plain, forged].map(({ header }) => traceIdOf(header))
    expect(new Set(ids).size).toBe(2)
    expect(ids).not.toContain(undefined)
  })

  it("accepts AWS's trace header, as a load balancer sends it", async () => {
    const { header } = await ask('hello', { 'x-amzn-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793' })
    expect(traceIdOf(header)).toBe('5759e988bd862e3fe1be46a994272793')
  })
})

it('keeps the trace of a queued execution although another trace notifies it', async () => {
  const container = await server.native.createContainer()
  const run = (traceId: string, code: string) =>
    server.native.call(
      'POST',
      `/v1/containers/${container}/executions?wait=0`,
      { code },
      { traceparent: `00-${traceId}-${'1'.repeat(16)}-01` },
    )
  const [first, second] = ['1'.repeat(32), '2'.repeat(32)] as const
  await run(first, 'import time\ntime.sleep(0.3)')
  const { id } = (await (await run(second, 'print(2)')).json()) as { id: string }
  await server.native.ended(id)
  const ends = (traceId: string) => ofTrace(traceId).filter(({ event }) => event === 'execution')
  await expect.poll(() => [ends(first).length, ends(second).length]).toEqual([1, 1])
  expect(ends(second)[0]).toMatchObject({ execution: id, sandbox_trace_id: second })
})

it('its log lines contain the metrics', async () => {
  const container = await server.native.createContainer()
  await server.native.run(container, 'print(1)')
  await server.native.call('DELETE', `/v1/containers/${container}`)
  const measured = () => new Set(lines().flatMap((line) => measure(line as WideEvent).map(({ name }) => name)))
  await expect.poll(measured, { timeout: 30_000 }).toContain('SandboxSeconds')
  const noPool: readonly MetricName[] = ['PoolReady', 'PoolMissing', 'Claim', 'SandboxCost']
  const wanted = METRIC_NAMES.filter((name) => definitionOf(name).isFailure !== true && !noPool.includes(name))
  expect(wanted.filter((name) => !measured().has(name))).toEqual([])
})

it('every line is an object with time, level and kind', () => {
  expect(lines().filter((line) => !line['timestamp'] || !line['level'] || !line['event'] || !line['outcome'])).toEqual([])
})
