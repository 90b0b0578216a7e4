import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { METRIC_NAMES } from '../../../services/model/metrics.ts'
import { listen } from '../../../services/entries/local/http-server.ts'
import { addProbes } from '../../../services/entries/local/telemetry/add-probes.ts'
import { createMetricsHandler } from '../../../services/entries/local/telemetry/metrics-handler.ts'
import { PrometheusMetrics } from '../../../services/entries/local/telemetry/prometheus.ts'
import { openEmbeddedStorage } from '../../../services/entries/local/storage/open-embedded-storage.ts'
import type { LocalStorage } from '../../../services/entries/local/storage/local-storage.ts'
import { sandboxRow } from '../../support/rows.ts'

const KEY = 'metrics-key-0123456789'
const app = { fetch: () => new Response('the API', { status: 404 }) }
const metrics = new PrometheusMetrics()
let storage: LocalStorage
let open: Awaited<ReturnType<typeof listen>>
let locked: Awaited<ReturnType<typeof listen>>

beforeAll(async () => {
  storage = await openEmbeddedStorage({ dataDir: null, onError: (error) => expect.unreachable(String(error)) })
  addProbes(metrics, storage, import.meta.dirname)
  const options = { app, objectHandler: null, host: '127.0.0.1', port: 0 }
  open = await listen({ ...options, metricsHandler: createMetricsHandler(metrics, null) })
  locked = await listen({ ...options, metricsHandler: createMetricsHandler(metrics, KEY) })
})
afterAll(async () => {
  await Promise.all([open.stop(), locked.stop()])
  await storage.close()
})

const read = async (headers: Readonly<Record<string, string>> = {}, url = open.url) => fetch(`${url}/metrics`, { headers })

describe('the metrics of a server', () => {
  it('contain every metric of the service as a histogram, a counter or a gauge without a tenant', async () => {
    metrics.emit({ event: 'execution', outcome: 'succeeded', tenant: 'tnt_1', queue_wait_ms: 4, run_ms: 30, total_ms: 1_200 })
    metrics.emit({ event: 'pool', outcome: 'counted', tier: '1g', wanted: 2, ready: 1, missing: 1 })
    const text = await (await read()).text()
    expect(text).toContain('cellblock_execution_time_seconds_bucket{le="2.5"} 1')
    expect(text).toContain('cellblock_execution_time_seconds_sum 1.2')
    expect(text).toContain('cellblock_executions_total 1')
    expect(text).toContain('cellblock_pool_ready{tier="1g"} 1')
    expect(text.match(/^# TYPE cellblock_/gm)?.length).toBeGreaterThan(METRIC_NAMES.length)
    expect(text).not.toContain('tnt_1')
  })

  it('contain the present sandboxes, queues, memory and free space', async () => {
    await storage.table.sandboxes.create(sandboxRow({ state: 'ready' }))
    const text = await (await read()).text()
    for (const line of [
      'cellblock_sandboxes{state="ready"} 1',
      'cellblock_sandboxes{state="claimed"} 0',
      'cellblock_queue_messages{queue="executions"} 0',
      'cellblock_dead_letters{queue="turns"} 0',
    ])
      expect(text).toContain(line)
    expect(text).toMatch(/^cellblock_process_resident_memory_bytes \d{7,}$/m)
    expect(text).toMatch(/^cellblock_host_available_bytes\{of="disk"\} \d+$/m)
  })
})

describe('access to the metrics', () => {
  it('without a key is limited to direct requests from this machine under its own name', async () => {
    const answer = await read()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain; version=/)])
    for (const header of ['forwarded', 'x-forwarded-for', 'x-real-ip']) expect((await read({ [header]: '192.0.2.1' })).status).toBe(403)
    // A page of another site that resolves its name to this machine.
    expect(await statusWithHost('attacker.example')).toBe(403)
  })

  it('with a key requires that key', async () => {
    expect((await read({}, locked.url)).status).toBe(401)
    expect((await read({ authorization: `Bearer ${KEY}x` }, locked.url)).status).toBe(401)
    expect((await read({ authorization: `Bearer ${KEY}`, 'x-forwarded-for': '192.0.2.1' }, locked.url)).status).toBe(200)
  })

  it('accepts reads only, and leaves other paths to the API', async () => {
    expect((await fetch(`${open.url}/metrics`, { method: 'POST' })).status).toBe(405)
    expect(await (await fetch(`${open.url}/metrics/x`)).text()).toBe('the API')
  })
})

/** `fetch` sets the host header itself. */
async function statusWithHost(host: string): Promise<number | undefined> {
  const { get } = await import('node:http')
  return new Promise((resolve, reject) => {
    get(`${open.url}/metrics`, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}
