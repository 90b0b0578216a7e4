import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chainProblem, type AuditBlock } from '../../../services/model/audit/audit.ts'
import { dayOf } from '../../../services/model/usage/usage.ts'
import { createApiClient, sendWithKey } from '../../../packages/cli/src/api-client.ts'
import type { Io } from '../../../packages/cli/src/io.ts'
import { runProgram } from '../../../packages/cli/src/program.ts'
import { addAudit } from '../../../scripts/cli/audit.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const MAIN = join(import.meta.dirname, '../../../scripts/cli/main.ts')
let api: TestApi
let folder: string
let key: TestKey
beforeAll(async () => {
  api = await startApi({ config: { auditFlushMs: 0 } })
  folder = await mkdtemp(join(tmpdir(), 'cellblock-audit-'))
  key = await api.newKey()
})
afterAll(async () => {
  await api.stop()
  await rm(folder, { recursive: true })
})

async function blocks(): Promise<readonly AuditBlock[]> {
  const found: AuditBlock[] = []
  for await (const block of api.table.audit.blocks(key.tenant)) found.push(block)
  return found
}
async function cli(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, TABLE_NAME: '', CELLBLOCK_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, output: stdout + stderr }
}

it('records every change with key, action and result in one chain, and no content', async () => {
  const client = api.openai(key)
  const container = await client.containers.create({ name: 'secret plans' })
  await Promise.all(
    [1, 2, 3, 4, 5].map((n) => api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: `secret = ${n}` }, { key })),
  )
  await client.containers.list()
  await client.containers.delete(container.id)
  await expect(client.containers.delete(container.id)).rejects.toMatchObject({ status: 404 })

  const chain = await blocks()
  expect(chainProblem(chain, null)).toBeNull()
  const entries = chain.flatMap((block) => block.entries)
  expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual([
    'createContainer 200',
    ...Array.from({ length: 5 }, () => 'runCode 202'),
    'deleteContainer 200',
    'deleteContainer 404',
  ])
  expect(new Set(entries.map(({ keyId }) => keyId))).toEqual(new Set([key.keyId]))
  expect(entries[1]?.targets).toMatchObject({ container_id: container.id })
  expect(JSON.stringify(chain)).not.toContain('secret')
})

it('lists the latest entries of a tenant to an administrator, the newest first', async () => {
  const admin = await api.newKey({ scopes: ['admin'] })
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'audited', createdAt: Date.now() })
  const answer = await api.fetch(`/v1/admin/tenants/${key.tenant}/audit?limit=2`, { key: admin })
  const { data } = (await answer.json()) as { readonly data: readonly Record<string, unknown>[] }
  expect(data.map(({ action, status }) => `${String(action)} ${String(status)}`)).toEqual(['deleteContainer 404', 'deleteContainer 200'])
  expect(data[0]).toMatchObject({ object: 'audit_entry', key_id: key.keyId, targets: { container_id: expect.any(String) as string } })
  expect((await api.fetch(`/v1/admin/tenants/${key.tenant}/audit`, { key })).status).toBe(403)
})

it('notices a changed, a removed and an inserted entry', async () => {
  const chain = [...(await blocks())]
  const [first, second, third] = chain as [AuditBlock, AuditBlock, AuditBlock]
  const changed = { ...second, entries: second.entries.map((entry) => ({ ...entry, keyId: 'key_other' })) }
  expect(chainProblem([first, changed, third], null)).toBe('block 2 was changed')
  expect(chainProblem([first, third], null)).toBe('block 2 is missing before block 3')
  expect(chainProblem([first, first], null)).toBe('block 2 is missing before block 1')
  expect(await api.table.audit.append(key.tenant, [], Date.now())).toMatchObject({ seq: chain.length + 1 })
})

it('exports signed daily digests that the command line verifies without a server', async () => {
  expect((await cli('audit', 'keygen', 'signing.pem')).code).toBe(0)
  api.skew = 86_400_000
  await api.openai(key).containers.create({ name: 'a day later' })
  const admin = await api.newKey({ scopes: ['admin'] })
  const client = createApiClient(sendWithKey(api.url, admin.key))
  const io = { folder, out: () => undefined, note: () => undefined, api: async () => client } as unknown as Io
  expect(await runProgram(['audit', 'export', key.tenant, 'signing.pem', '.'], io, [addAudit])).toBe(0)
  const files = (await readdir(folder)).filter((name) => name.startsWith(key.tenant)).toSorted()
  expect(files).toEqual([`${key.tenant}-${dayOf(Date.now())}.json`, `${key.tenant}-${dayOf(api.now())}.json`])

  const verified = await cli('audit', 'verify', 'signing.pem.pub', ...files)
  expect(verified).toMatchObject({ code: 0, output: expect.stringContaining('signatures and chain are intact') as string })

  const forged = (await readFile(join(folder, files[0] ?? ''), 'utf8')).replace('"status":404', '"status":200')
  await writeFile(join(folder, 'forged.json'), forged)
  const refused = await cli('audit', 'verify', 'signing.pem.pub', 'forged.json')
  expect(refused).toMatchObject({ code: 3, output: expect.stringContaining('the signature does not match') as string })
})

it('is read in pages, none of which is too large for one answer', async () => {
  const admin = await api.newKey({ scopes: ['admin'] })
  const { tenant } = await api.newKey()
  await api.table.tenants.create({ v: 1, id: tenant, name: 'busy', createdAt: Date.now() })
  const entry = { at: 1, keyId: 'key_a', subject: null, action: 'createContainer', status: 200, requestId: 'req_a' }
  for (let n = 0; n < 70; n++) await api.table.audit.append(tenant, [{ ...entry, targets: { container_id: 'x'.repeat(280_000) } }], 1)
  const page = async (query: string) => {
    const body = await (await api.fetch(`/v1/admin/tenants/${tenant}/audit/blocks${query}`, { key: admin })).text()
    const lines = body.split('\n').filter(Boolean)
    return { bytes: body.length, seqs: lines.map((line) => (JSON.parse(line) as AuditBlock).seq) }
  }
  const first = await page('')
  const last = first.seqs.at(-1) ?? 0
  expect(first.bytes).toBeGreaterThan(16 * 1024 ** 2)
  expect(first.bytes).toBeLessThan(16.5 * 1024 ** 2)
  const second = await page(`?after=${last}`)
  expect([...first.seqs, ...second.seqs]).toEqual(Array.from({ length: 70 }, (_, n) => n + 1))
  expect((await page('?after=70')).seqs).toEqual([])
  expect((await api.fetch(`/v1/admin/tenants/${tenant}/audit/blocks?after=-1`, { key: admin })).status).toBe(400)

  const client = createApiClient(sendWithKey(api.url, admin.key))
  const io = { folder, out: () => undefined, note: () => undefined, api: async () => client } as unknown as Io
  await runProgram(['audit', 'export', tenant, 'signing.pem', '.'], io, [addAudit])
  const file = (await readdir(folder)).find((name) => name.startsWith(tenant)) ?? ''
  expect((JSON.parse(await readFile(join(folder, file), 'utf8')) as { blocks: unknown[] }).blocks).toHaveLength(70)
})
