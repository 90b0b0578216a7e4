import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHash } from 'node:crypto'
import { NETWORK_LOG } from '../../../services/model/network/network-log.ts'
import { AuditLog } from '../../../services/operations/audit/audit-log.ts'
import { NetworkRecorder } from '../../../services/operations/network/network-recorder.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import type { NetworkRequestReport } from '../../../services/ports/network-gateway.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const exhausted: string[] = []
function recorder(): NetworkRecorder {
  const ports = { table: api.table, clock: api, telemetry: { emit: () => undefined } }
  const limits = createLimitReader(api.table.tenants, api)
  return new NetworkRecorder(
    { ...ports, limits, audit: new AuditLog(ports, 0) },
    { flushMs: 10, onExhausted: async (_, id) => void exhausted.push(id) },
  )
}
const newContainer = async (): Promise<string> => (await api.openai().containers.create({ name: 'x' })).id
const report = (containerId: string, change: Partial<NetworkRequestReport> = {}): NetworkRequestReport => ({
  at: Date.now(),
  tenant: api.owner.tenant,
  containerId,
  host: 'a.example.com',
  method: 'GET',
  path: '/v1/x',
  status: 200,
  bytesUp: 10,
  bytesDown: 90,
  decision: 'allowed',
  reason: null,
  secret: null,
  ...change,
})
interface Page {
  readonly data: readonly { readonly id: string; readonly path: string; readonly decision: string; readonly reason: string | null }[]
  readonly has_more: boolean
}
const page = async (id: string, query = ''): Promise<Page> =>
  (await (await api.fetch(`/v1/containers/${id}/network/requests${query}`)).json()) as Page

it('lists requests in pages, the latest first, and refused ones with their reason', async () => {
  const id = await newContainer()
  const log = recorder()
  for (let n = 0; n < 250; n++) log.record(report(id, { path: `/${n}` }))
  log.record(report(id, { decision: 'refused', status: null, reason: 'This container may not reach evil.org.', host: 'evil.org' }))
  await log.flush()
  expect((await page(id, '?limit=1')).data).toMatchObject([{ decision: 'refused', reason: 'This container may not reach evil.org.' }])
  const seen: string[] = []
  for (let after = '', more = true; more;) {
    const { data, has_more: hasMore } = await page(id, `?limit=100&order=asc${after}`)
    seen.push(...data.map(({ path }) => path))
    after = `&after=${data.at(-1)?.id}`
    more = hasMore
  }
  expect(seen).toEqual([...Array.from({ length: 250 }, (_, n) => `/${n}`), '/v1/x'])
})

it('small batches share a row, and the ring of rows is bounded', async () => {
  const id = await newContainer()
  const log = recorder()
  for (let n = 0; n < 30; n++) {
    log.record(report(id))
    await log.flush()
  }
  expect((await page(id, '?limit=100')).data.map(({ id: entry }) => entry)).toContain('net_129')
  const full = Array.from({ length: NETWORK_LOG.perBatch }, () => report(id, { path: `/${'p'.repeat(5_000)}` }))
  for (let n = 0; n < NETWORK_LOG.batches + 5; n++) {
    for (const one of full) log.record(one)
    await log.flush()
  }
  const { rows } = await api.table.networkLog.list(
    { tenant: api.owner.tenant, containerId: id },
    { after: null, limit: 100_000, order: 'asc' },
  )
  expect(rows.length).toBe(NETWORK_LOG.perBatch * NETWORK_LOG.batches)
  expect(rows[0]?.entry.path.length).toBe(NETWORK_LOG.maxPath)
})

it('adds the requests to the usage of the day once, and a digest of them to the audit log', async () => {
  const key = await api.newKey()
  const { id } = await api.openai(key).containers.create({ name: 'x' })
  const log = recorder()
  for (const decision of ['allowed', 'refused'] as const) {
    log.record(report(id, { tenant: key.tenant, decision }))
    await log.flush()
  }
  const usage = (await (await api.fetch('/v1/usage', { key })).json()) as { total: object }
  expect(usage.total).toMatchObject({ network_requests: 2, network_refused: 1, network_bytes: 200, executions: 0 })
  const entries = (await api.table.audit.recent(key.tenant, 10)).filter(({ action }) => action === 'networkRequests')
  const { rows } = await api.table.networkLog.list({ tenant: key.tenant, containerId: id }, { after: null, limit: 1, order: 'desc' })
  const sha256 = createHash('sha256')
    .update(JSON.stringify(rows.map(({ entry }) => entry)))
    .digest('hex')
  expect(entries[0]?.targets).toMatchObject({ container_id: id, first: 'net_101', last: 'net_101', refused: '1', sha256 })
})

it('reports a container whose tenant has used the bytes of the day', async () => {
  const key = await api.newKey()
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'x', createdAt: 0, policy: { limits: { networkBytesPerDay: 1024 ** 2 } } })
  const { id } = await api.openai(key).containers.create({ name: 'x' })
  const log = recorder()
  log.record(report(id, { tenant: key.tenant, bytesDown: 1000 }))
  await log.flush()
  expect(exhausted).not.toContain(id)
  log.record(report(id, { tenant: key.tenant, bytesDown: 1024 ** 2 }))
  await log.flush()
  expect(exhausted).toContain(id)
})

it('another tenant gets the answer of a container that does not exist', async () => {
  const id = await newContainer()
  const answer = await api.fetch(`/v1/containers/${id}/network/requests`, { key: api.otherTenant })
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'container_not_found' } }])
})
