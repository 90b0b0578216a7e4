import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiClient, sendWithKey } from '../../../packages/cli/src/api-client.ts'
import { runProgram } from '../../../packages/cli/src/program.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let admin: string
beforeAll(async () => {
  api = await startApi()
  admin = (await api.newKey({ scopes: ['admin'] })).key
})
afterAll(() => api.stop())

/** Runs the `cellblock` program in this process. */
async function cellblock(key: string, ...args: readonly string[]): Promise<{ code: number; out: string; note: string }> {
  const said = { out: '', note: '' }
  const code = await runProgram(args, {
    folder: '.',
    signal: new AbortController().signal,
    stdin: Readable.from([]) as unknown as NodeJS.ReadStream,
    isTerminal: false,
    out: (text) => void (said.out += text),
    note: (text) => void (said.note += text),
    api: async () => createApiClient(sendWithKey(api.url, key)),
    saveLogin: async () => '',
    removeLogin: async () => null,
    keySource: async () => 'CELLBLOCK_API_KEY',
    url: async () => api.url,
  })
  return { code, ...said }
}

it('administers tenants, keys and usage', async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Acme', '--no-key')).out.trim()
  expect((await cellblock(admin, 'tenants', 'list')).out).toContain(`${tenant}  Acme`)
  expect((await cellblock(admin, 'tenants', 'show', tenant)).out).toMatch(/^name +Acme$/m)
  expect(JSON.parse((await cellblock(admin, 'tenants', 'show', tenant, '--json')).out)).toMatchObject({ id: tenant, name: 'Acme' })

  const made = await cellblock(admin, 'keys', 'create', tenant, '--name', 'ci', '--subject', 'ann', '--scopes', 'run,read')
  const key = made.out.trim()
  const id = made.note.split(':')[0] ?? ''
  expect((await cellblock(key, 'containers', 'list')).code).toBe(0)
  expect((await cellblock(admin, 'keys', 'list', tenant)).out).toMatch(new RegExp(String.raw`^${id} +ci +ann +\["run","read"\]`, 'm'))
  expect((await cellblock(admin, 'keys', 'list')).out).toMatch(new RegExp(String.raw`^${id} +${tenant} +ci +ann`, 'm'))
  expect((await cellblock(admin, 'usage', '--tenant', tenant)).out).toMatch(/^total +0 +0/m)

  await cellblock(admin, 'keys', 'revoke', id)
  expect((await api.table.tenants.listKeys()).find((row) => row.id === id)?.revokedAt).not.toBeNull()
  expect((await cellblock(admin, 'tenants', 'delete', tenant)).note).toContain(tenant)
  expect((await api.table.tenants.get(tenant))?.deletion).toBeDefined()
})

it('says whose key it is', async () => {
  const { keyId: id, tenant, key } = await api.newKey({ name: 'notebook', subject: 'ann', scopes: ['read'] })
  const { code, out } = await cellblock(key, 'whoami')
  expect(code).toBe(0)
  expect(out).toContain(`key       ${id} "notebook", from CELLBLOCK_API_KEY`)
  expect(out).toMatch(new RegExp(`^tenant +${tenant} `, 'm'))
  expect(out).toMatch(/^end user +ann$/m)
  expect(out).toMatch(/^scopes +read$/m)
})

it('prints limits by subject with units', async () => {
  const { out, note } = await cellblock(api.owner.key, 'limits')
  expect(out).toMatch(/^In use now or today\n(?: {2}.*\n)* {2}live_containers +[\d,]+ +0 used$/m)
  expect(out).toMatch(/^ {2}dollars_per_day +\$\d+ +\$0 used$/m)
  expect(out).toMatch(/^ {2}disk_bytes +[\d.]+ [KMG]B$/m)
  expect(note).toContain('--all')
  expect((await cellblock(api.owner.key, 'limits', '--all')).out).toMatch(/^ {2}max_code_bytes +1\.0 MB$/m)
})

it('creates a tenant with its first key', async () => {
  const made = await cellblock(admin, 'tenants', 'create', 'First', '--json')
  const { id, api_key: key } = JSON.parse(made.out) as { readonly id: string; readonly api_key: string }
  expect((await cellblock(key, 'containers', 'list')).code).toBe(0)
  expect((await cellblock(admin, 'tenants', 'create', 'Second')).out).toMatch(/^tenant +tnt_.*\nkey id +key_.*\nAPI key +ck_/)

  const { out } = await cellblock(admin, 'keys', 'create', id, '--days', '2', '--json')
  expect(Date.parse((JSON.parse(out) as { readonly expires_at: string }).expires_at) - Date.now()).toBeGreaterThan(86_400_000)
  expect((await cellblock(admin, 'keys', 'create', id, '--days', '0')).code).toBe(2)
})

it("prints a key in the form of E2B's keys, with which the E2B wire answers", async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Agents', '--no-key')).out.trim()
  const key = (await cellblock(admin, 'keys', 'create', tenant, '--e2b')).out.trim()
  expect(key).toMatch(/^e2b_[0-9a-f]+$/)
  const list = (given: string): Promise<Response> => fetch(`${api.url}/e2b/v2/sandboxes`, { headers: { 'x-api-key': given } })
  expect((await list(key)).status).toBe(200)
  expect((await list(`${key.slice(0, -2)}00`)).status).toBe(401)
})

it('shows what sets each limit of a tenant', async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Limited', '--no-key')).out.trim()
  await cellblock(admin, 'plans', 'set', 'limited', 'inodes=5k')
  await cellblock(admin, 'tenants', 'change', tenant, '--plan', 'limited')
  const { out } = await cellblock(admin, 'tenants', 'limits', tenant, 'disk_bytes=32m', 'memory_limit=4g')
  expect(out).toMatch(/^disk_bytes +33554432 +tenant +bytes$/m)
  expect(out).toMatch(/^memory_limit +4g +tenant +tier$/m)
  expect(out).toMatch(/^inodes +5120 +plan +count$/m)
  expect(out).toMatch(/^processes +256 +default +count$/m)
  expect((await cellblock(admin, 'tenants', 'limits', tenant, 'disk_bytes=default')).out).toMatch(/^disk_bytes +1073741824 +default/m)
})

it('sets plans, and gives a tenant a plan and its own limits', async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Planned', '--no-key')).out.trim()
  await cellblock(admin, 'plans', 'set', 'team', 'live_containers=20', 'dollars_per_day=5')
  expect((await cellblock(admin, 'plans', 'list')).out).toMatch(/^team +dollars_per_day=5 live_containers=20/m)

  await cellblock(admin, 'tenants', 'change', tenant, '--plan', 'team', 'queued_jobs=7', 'open_streams=9')
  expect((await api.table.tenants.get(tenant))?.policy).toEqual({ plan: 'team', limits: { queuedJobs: 7, openStreams: 9 } })
  await cellblock(admin, 'tenants', 'change', tenant, '--plan', 'none', '--name', 'Free', 'queued_jobs=default')
  expect(await api.table.tenants.get(tenant)).toMatchObject({ name: 'Free', policy: { limits: { openStreams: 9 } } })

  expect(await cellblock(admin, 'plans', 'delete', 'team')).toMatchObject({ code: 0, note: 'deleted team\n' })
  expect((await cellblock(admin, 'tenants', 'change', tenant, '--plan', 'team')).note).toContain('No plan "team" exists')
})

it('refuses limits that are not of the form NAME=VALUE or unknown to the server', async () => {
  expect(await cellblock(admin, 'plans', 'set', 'odd', '20')).toMatchObject({
    code: 2,
    note: expect.stringContaining('NAME=VALUE'),
  })
  expect(await cellblock(admin, 'plans', 'set', 'odd', 'wings=2')).toMatchObject({
    code: 3,
    note: expect.stringContaining('wings'),
  })
})

it('explains that a key without the scope admin lacks the permission', async () => {
  const { key } = await api.newKey()
  expect(await cellblock(key, 'tenants', 'list')).toMatchObject({ code: 3, note: expect.stringContaining('admin') })
})
