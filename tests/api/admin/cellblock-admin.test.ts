import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiClient } from '../../../packages/cli/src/api-client.ts'
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
    api: async () => createApiClient(api.url, key),
    saveLogin: async () => '',
    url: async () => api.url,
  })
  return { code, ...said }
}

it('administers tenants, keys and usage', async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Acme')).out.trim()
  expect((await cellblock(admin, 'tenants', 'list')).out).toContain(`${tenant}  Acme`)
  expect((await cellblock(admin, 'tenants', 'show', tenant)).out).toMatch(/^name +Acme$/m)
  expect(JSON.parse((await cellblock(admin, 'tenants', 'show', tenant, '--json')).out)).toMatchObject({ id: tenant, name: 'Acme' })

  const made = await cellblock(admin, 'keys', 'create', tenant, '--name', 'ci', '--subject', 'ann', '--scopes', 'run,read')
  const key = made.out.trim()
  const id = made.note.split(':')[0] ?? ''
  expect((await cellblock(key, 'containers', 'list')).code).toBe(0)
  expect((await cellblock(admin, 'keys', 'list', tenant)).out).toMatch(new RegExp(String.raw`^${id} +ci +ann +\["run","read"\]`, 'm'))
  expect((await cellblock(admin, 'usage', '--tenant', tenant)).out).toMatch(/^total +0 +0/m)

  await cellblock(admin, 'keys', 'revoke', id)
  expect((await api.table.tenants.listKeys()).find((row) => row.id === id)?.revokedAt).not.toBeNull()
  expect((await cellblock(admin, 'tenants', 'delete', tenant)).note).toContain(tenant)
  expect((await api.table.tenants.get(tenant))?.deletion).toBeDefined()
})

it('sets plans, and gives a tenant a plan and its own limits', async () => {
  const tenant = (await cellblock(admin, 'tenants', 'create', 'Planned')).out.trim()
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
