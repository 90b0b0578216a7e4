import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { createLink } from '../../../services/operations/links/create-link.ts'
import { SCOPES } from '../../../services/model/tenants/tenant.ts'
import { exportTenant } from '../../../services/operations/tenancy/export-tenant.ts'
import { tenantExports, tenantObjects } from '../../../services/model/object-keys.ts'
import type { DueRow } from '../../../services/ports/table.ts'
import { sweepTenant } from '../../../services/workers/reconcile/sweep-tenant.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

let api: TestApi
let admin: TestKey
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0, auditFlushMs: 0 } })
  admin = await api.newKey({ tenant: await newTenant('operators'), scopes: SCOPES })
})
afterAll(() => api.stop())

async function newTenant(name: string): Promise<string> {
  const id = newId('tenant')
  await api.table.tenants.create({ v: 1, id, name, createdAt: Date.now() })
  return id
}

/** An account with an object of every kind. Returns its key. */
async function filledTenant(): Promise<TestKey> {
  const tenant = await newTenant('company')
  const key = await api.newKey({ tenant })
  const client = api.openai(key)
  const container = await client.containers.create({ name: 'one' })
  await client.containers.files.create(container.id, { file: new File(['secret numbers'], 'numbers.txt') })
  await client.files.create({ file: new File(['x'], 'x.txt'), purpose: 'user_data' })
  await client.uploads.create({ filename: 'x', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' })
  await client.conversations.create({ items: [{ role: 'user', content: 'hello' }] })
  await client.responses.create({ model: 'demo', input: 'x', background: true })
  await api.fetch('/e2b/sandboxes', {
    method: 'POST',
    key: null,
    headers: { 'x-api-key': key.key, 'content-type': 'application/json' },
    body: '{}',
  })
  await client.webhooks.create({ name: 'x', url: 'https://example.com/', event_types: ['response.completed'] })
  const headers = { 'idempotency-key': 'once' }
  const execution = await api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: 'print(1)' }, { key, headers })
  await finishExecution(api, tenant, ((await execution.json()) as { id: string }).id)
  const target = { objectKey: 'k', filename: 'f', mime: 'text/plain', bytes: 1 }
  await createLink(api.table.links, { tenant, containerId: container.id, fileId: null, target, publicUrl: api.url, days: 7 }, Date.now())
  return key
}

const sweep = async (tenant: string, laterMs = 60_000): Promise<void> => {
  const due = (await api.table.due(api.now() + laterMs, 100)).find((row) => row.kind === 'tenant' && row.id === tenant)
  if (due === undefined) throw new Error('The tenant is not due.')
  await sweepRow(due)
}
const sweepRow = (due: DueRow): Promise<void> =>
  sweepTenant({ table: api.table, objects: api.objects, queue: api.queue, clock: api, telemetry: silentTelemetry }, due)

interface StoredExport {
  readonly url: string
  readonly rows: number
  readonly bytes: number
  readonly deleted_at: string
}
async function exported(tenant: string): Promise<StoredExport> {
  const answer = await api.post(`/v1/admin/tenants/${tenant}/export`, {}, { key: admin })
  expect(answer.status).toBe(200)
  return (await answer.json()) as StoredExport
}
const rowsOf = async (tenant: string): Promise<readonly string[]> => {
  const kinds: string[] = []
  for await (const { kind } of api.table.tenantRows.export(tenant)) kinds.push(kind)
  return kinds
}

it('exports every row of a tenant with links to its files, and no secret', async () => {
  const key = await filledTenant()
  const stored = await exported(key.tenant)
  const answer = await fetch(stored.url)
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const text = await answer.text()
  expect([Buffer.byteLength(text), text.trim().split('\n').length]).toEqual([stored.bytes, stored.rows])
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; part: string | null; download_url?: string; fields: Record<string, unknown> })
  const kinds = new Set(lines.map(({ kind }) => kind))
  for (const kind of ['container', 'execution', 'response', 'conversation', 'file', 'upload', 'link', 'tenant'])
    expect(kinds, kind).toContain(kind)
  expect(lines.find(({ kind }) => kind === 'execution')?.fields['source']).toMatchObject({ code: 'print(1)' })
  const file = lines.find(({ part }) => part?.startsWith('file#') === true)
  const path = new URL(file?.download_url ?? '')
  const download = await api.fetch(path.pathname + path.search, { key: admin, redirect: 'manual' })
  expect(download.status).toBe(302)
  expect(await (await fetch(download.headers.get('location') ?? '')).text()).toBe('secret numbers')
  expect(lines.find(({ fields }) => fields['name'] === 'e2b')?.fields['extensions']).toMatchObject({ e2b: { template: 'base' } })
  expect(text).not.toMatch(/whsec_|tokenHash|secrets|"secret":/)
})

it('keeps one export of a tenant for a day, which counts to no tenant', async () => {
  const { tenant } = await filledTenant()
  const before = await api.objects.sizeOf(tenantObjects(tenant))
  const first = await exported(tenant)
  const second = await exported(tenant)
  expect(await api.objects.sizeOf(tenantExports(tenant))).toBe(second.bytes)
  expect((await fetch(first.url)).status).toBe(404)
  expect(await api.objects.sizeOf(tenantObjects(tenant))).toBe(before)
  const due = await api.table.due(Date.parse(second.deleted_at), 1_000)
  const row = due.find(({ kind, id }) => kind === 'tenant' && id === tenant)
  expect(row?.dueAt).toBe(Date.parse(second.deleted_at))
  await sweepRow(row as DueRow)
  expect(await api.objects.sizeOf(tenantExports(tenant))).toBe(0)
  expect((await api.table.due(Number.MAX_SAFE_INTEGER, 1_000)).filter(({ id }) => id === tenant)).toEqual([])
})

it('links no object of another tenant, and none that is gone', async () => {
  const { tenant } = await filledTenant()
  const other = await filledTenant()
  await exported(other.tenant)
  for (const key of [`tenants/${other.tenant}/x`, `exports/${tenant}/x`, `tenants/${tenant}/none`, `tenants/${tenant}`, '']) {
    const query = new URLSearchParams({ key })
    const answer = await api.fetch(`/v1/admin/tenants/${tenant}/objects?${query.toString()}`, { key: admin, redirect: 'manual' })
    expect(answer.status, key).toBe(404)
  }
})

it('refuses the export of a deleted tenant, and one that takes longer than a call', async () => {
  const { tenant } = await filledTenant()
  const deps = { table: api.table, objects: api.objects, clock: api }
  const late = exportTenant(deps, tenant, { maxSeconds: 0, describe: () => ({}) })
  await expect(late).rejects.toMatchObject({ code: 'limit_exceeded' })
  // The deletion begins after the export has found its tenant.
  const racing = exportTenant(deps, tenant, {
    maxSeconds: 60,
    describe: () => {
      deleted ??= api.table.tenants.beginDeletion(tenant, api.now())
      return {}
    },
  })
  let deleted: Promise<unknown> | undefined
  await expect(racing).rejects.toMatchObject({ code: 'conflict' })
  expect(await api.objects.sizeOf(tenantExports(tenant))).toBe(0)
  expect((await api.post(`/v1/admin/tenants/${tenant}/export`, {}, { key: admin })).status).toBe(409)
})

it('deletes a tenant with keys, rows and objects, and reports what remains', async () => {
  const key = await filledTenant()
  const other = await filledTenant()
  const before = await rowsOf(other.tenant)
  const begun = await api.fetch(`/v1/admin/tenants/${key.tenant}`, { method: 'DELETE', key: admin })
  expect([begun.status, await begun.json()]).toMatchObject([202, { id: key.tenant, deletion: { completed_at: null } }])
  expect((await api.fetch('/v1/containers', { key })).status).toBe(401)
  const refused = await api.post(`/v1/admin/tenants/${key.tenant}/keys`, {}, { key: admin })
  expect(refused.status).toBe(409)

  await sweep(key.tenant)
  // The containers go first, because their sandboxes have to stop.
  expect((await api.table.containers.list(key.tenant, { after: null, limit: 9, order: 'asc', name: null })).rows).toEqual([])
  await sweep(key.tenant)
  await sweep(key.tenant)
  const report = (await (await api.fetch(`/v1/admin/tenants/${key.tenant}`, { key: admin })).json()) as {
    deletion: { completed_at: string | null; removed_rows: number; removed_objects: number; remains: string[] }
  }
  expect(report.deletion.completed_at).not.toBeNull()
  expect(report.deletion.removed_rows).toBeGreaterThan(10)
  expect(report.deletion.removed_objects).toBeGreaterThan(1)
  expect(report.deletion.remains).toContain('the audit log and its signed digests')

  expect((await rowsOf(key.tenant)).filter((kind) => kind !== 'audit')).toEqual(['tenant'])
  expect(await api.objects.deletePrefix(`tenants/${key.tenant}/`)).toBe(0)
  expect((await api.table.tenants.listKeys()).filter(({ tenant }) => tenant === key.tenant)).toEqual([])
  await expect(sweep(key.tenant)).rejects.toThrow('not due')
  expect(await rowsOf(other.tenant)).toEqual(before)
  expect((await api.fetch('/v1/containers', { key: other })).status).toBe(200)
})

it('removes what a step wrote after the deletion was complete', async () => {
  const tenant = await newTenant('company')
  await api.table.tenants.beginDeletion(tenant, api.now())
  await sweep(tenant)
  const completedAt = (await api.table.tenants.get(tenant))?.deletion?.completedAt
  expect(completedAt).toEqual(expect.any(Number))
  const usage = { sandboxSeconds: 1, costUsd: 0, cpuMs: 1, peakMemoryBytes: 1, outputBytes: 1 }
  await api.table.usage.put({ v: 1, tenant, subject: null, executionId: newId('execution'), day: '2026-01-01', ...usage })

  const hourMs = 3_600_000 + 60_000
  await sweep(tenant, hourMs)
  expect(await rowsOf(tenant)).toEqual(['tenant'])
  // It found a row, so another search follows.
  await sweep(tenant)
  expect((await api.table.tenants.get(tenant))?.deletion).toMatchObject({ completedAt, removedRows: 1 })
  await expect(sweep(tenant, hourMs)).rejects.toThrow('not due')
})

it('refuses that a tenant deletes itself, and an unknown tenant', async () => {
  expect((await api.fetch(`/v1/admin/tenants/${admin.tenant}`, { method: 'DELETE', key: admin })).status).toBe(409)
  expect((await api.fetch('/v1/admin/tenants/tnt_01kajv9h2s8p0ww3d4dq4cs1zt', { method: 'DELETE', key: admin })).status).toBe(404)
})
