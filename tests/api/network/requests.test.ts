import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHash } from 'node:crypto'
import type { Container } from '../../../services/model/containers/container.ts'
import { NETWORK_LOG } from '../../../services/model/network/network-log.ts'
import { AuditLog } from '../../../services/operations/audit/audit-log.ts'
import { NetworkRecorder } from '../../../services/operations/network/network-recorder.ts'
import { requestsDuring } from '../../../services/operations/network/requests-during.ts'
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

/** A container with a policy, as it has been since `recorder` began. */
async function networked(): Promise<Container> {
  const id = await newContainer()
  const container = await api.table.containers.setNetwork(api.owner.tenant, id, { allow: [{ host: 'a.example.com' }], presets: [] })
  if (container === null) throw new Error('The container is gone.')
  return container
}

it('counts the requests since a time, and names each refused host once with its reason', async () => {
  const container = await networked()
  const log = recorder()
  const network = { settle: () => log.flush() }
  expect(await requestsDuring({ table: api.table, network }, container, 0)).toBe(null)
  log.record(report(container.id, { at: 1_000 }))
  log.record(report(container.id, { at: 2_000 }))
  for (let n = 0; n < 7; n++)
    for (const path of ['/a', '/b'])
      log.record(report(container.id, { at: 3_000, host: `h${n}.org`, path, decision: 'refused', reason: `Not h${n}.org.` }))
  const during = await requestsDuring({ table: api.table, network }, container, 2_000)
  expect(during?.counts).toEqual({ requests: 15, refused: 14, bytes: 1_500 })
  expect(during?.lost.slice(0, 5)).toContainEqual({ what: 'request to h6.org', reason: 'Not h6.org.' })
  expect(during?.lost.slice(5)).toEqual([{ what: 'requests', reason: 'Requests to 2 more hosts were refused.' }])
  expect(await requestsDuring({ table: api.table, network }, { ...container, network: undefined } as never, 0)).toBe(null)
})

it('counts every request that the log has, and says when it has no more', async () => {
  const container = await networked()
  const log = recorder()
  const count = () => requestsDuring({ table: api.table, network: { settle: () => log.flush() } }, container, 2_000)
  log.record(report(container.id, { at: 1_000 }))
  await log.flush()
  const { perBatch, batches } = NETWORK_LOG
  const fill = async (rows: number): Promise<void> => {
    for (let row = 0; row < rows; row++) {
      for (let n = 0; n < perBatch; n++) log.record(report(container.id, { at: 3_000 }))
      await log.flush()
    }
  }
  await fill(15)
  expect(await count()).toEqual({ counts: { requests: 1_500, refused: 0, bytes: 150_000 }, lost: [] })
  await fill(batches - 15)
  const during = await count()
  expect(during?.counts.requests).toBe(perBatch * batches)
  expect(during?.lost).toEqual([{ what: 'count of requests', reason: expect.stringContaining('latest 10000 requests') as string }])
})

it('an operator reads the refused hosts of a tenant, the latest first, without addresses', async () => {
  const [one, other] = [await networked(), await networked()]
  const log = recorder()
  const refused = { decision: 'refused', reason: 'Not allowed.' } as const
  log.record(report(one.id, { ...refused, host: 'early.org', at: 1_000 }))
  log.record(report(other.id, { ...refused, host: 'early.org', at: 3_000 }))
  log.record(report(other.id, { ...refused, host: 'late.org', at: 5_000 }))
  log.record(report(other.id, { ...refused, host: '169.254.169.254', at: 6_000 }))
  log.record(report(other.id, { host: 'reached.org', at: 7_000 }))
  await log.flush()
  await api.table.tenants.create({ v: 1, id: api.owner.tenant, name: 'x', createdAt: 0 })
  const key = await api.newKey({ scopes: ['admin'] })
  const path = `/v1/admin/tenants/${api.owner.tenant}/refused_hosts`
  const list = (await (await api.fetch(path, { key })).json()) as { data: readonly { host: string }[] }
  expect(list.data.filter(({ host }) => /early|late|169|reached/.test(host))).toMatchObject([
    { host: 'late.org', requests: 1, in_ceiling: false, container_id: other.id },
    { host: 'early.org', requests: 2, container_id: other.id, last_at: new Date(3_000).toISOString() },
  ])
  expect((await api.fetch(path)).status).toBe(403)
})

it('another tenant gets the answer of a container that does not exist', async () => {
  const id = await newContainer()
  const answer = await api.fetch(`/v1/containers/${id}/network/requests`, { key: api.otherTenant })
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'container_not_found' } }])
})
