import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { emptyResult, finishExecution } from '../../support/finish-execution.ts'
import { fileRow } from '../../support/rows.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'gets' })).id
})
afterAll(() => api.stop())

const accept = async (): Promise<string> =>
  ((await (await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' })).json()) as { id: string }).id
const get = (path: string, key = api.owner): Promise<Response> => api.fetch(path, { key })

it('waits for the end with `wait`', async () => {
  const id = await accept()
  const startedAt = performance.now()
  const waiting = get(`/v1/executions/${id}?wait=60`)
  await finishExecution(api, api.owner.tenant, id, { result: { stdout: 'done' } })
  expect(await (await waiting).json()).toMatchObject({ status: 'succeeded', stdout: 'done' })
  expect(performance.now() - startedAt).toBeLessThan(30_000)
})

it('returns the present state after `wait`', async () => {
  const id = await accept()
  const startedAt = performance.now()
  expect(await (await get(`/v1/executions/${id}?wait=1`)).json()).toMatchObject({ status: 'queued', usage: null })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
})

it('returns a result stored in an object', async () => {
  const id = await accept()
  const now = Date.now()
  const acquired = await api.table.executions.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/results/r`
  const { bytes } = await api.objects.put(objectKey, Buffer.from(JSON.stringify({ ...emptyResult, stdout: 'big' })), {
    contentType: 'application/json',
  })
  await api.table.executions.commit(
    { tenant: api.owner.tenant, id, fence: acquired.row.fence },
    {
      status: 'succeeded',
      endedAt: now,
      resultRef: { objectKey, bytes },
    },
  )
  expect(await (await get(`/v1/executions/${id}`)).json()).toMatchObject({ stdout: 'big', usage: { run_ms: 3 } })
})

it('lists the executions of a container, newest first by default', async () => {
  const { id: other } = await api.openai().containers.create({ name: 'list' })
  const ids: string[] = []
  for (const code of ['1', '2', '3'])
    ids.push(((await (await api.post(`/v1/containers/${other}/executions?wait=0`, { code })).json()) as { id: string }).id)
  const list = async (query: string): Promise<{ data: { id: string; queue_position: number }[]; has_more: boolean; last_id: string }> =>
    (await get(`/v1/containers/${other}/executions${query}`)).json() as never
  expect((await list('')).data.map((row) => [row.id, row.queue_position])).toEqual([
    [ids[2], 2],
    [ids[1], 1],
    [ids[0], 0],
  ])
  const first = await list('?order=asc&limit=2')
  expect([first.data.map((row) => row.id), first.has_more]).toEqual([ids.slice(0, 2), true])
  expect((await list(`?order=asc&limit=2&after=${first.last_id}`)).data.map((row) => row.id)).toEqual(ids.slice(2))
})

it('gives URLs of files only to a key with the scope "files"', async () => {
  const id = await accept()
  const file = fileRow({ tenant: api.owner.tenant, containerId, path: 'a.txt', mime: 'text/plain' })
  await api.table.files.put(file)
  const made = { id: file.id, path: file.path, bytes: 12, sha256: 'x', mime: file.mime, isNew: true, modifiedFrom: null }
  const event: ExecutionEvent = { seq: 1, at: 1, type: 'file', file: made }
  await finishExecution(api, api.owner.tenant, id, { result: { files: [made] }, tail: [event] })
  const reader = await api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })
  for (const [key, hasUrl] of [
    [api.owner, true],
    [reader, false],
  ] as const) {
    const { files } = (await (await get(`/v1/executions/${id}`, key)).json()) as { files: { path: string; url: string | null }[] }
    expect(files.map(({ path, url }) => [path, url !== null])).toEqual([['/mnt/data/a.txt', hasUrl]])
    const events = await (await get(`/v1/executions/${id}/events`, key)).text()
    expect(events).toContain('/mnt/data/a.txt')
    expect(/"url":"http/.test(events)).toBe(hasUrl)
    const [listed] = ((await (await get(`/v1/containers/${containerId}/executions?limit=1`, key)).json()) as { data: (typeof files)[] })
      .data
    expect(/"url":"http/.test(JSON.stringify(listed))).toBe(hasUrl)
  }
})

it('replies to ids of other tenants as to missing ids', async () => {
  const id = await accept()
  for (const suffix of ['', '/notebook.ipynb', '/events']) {
    const answers = await Promise.all([
      get(`/v1/executions/${id}${suffix}`, api.otherTenant),
      get(`/v1/executions/exec_01kajv9h2s8p0ww3d4dq4cs1zt${suffix}`),
      get(`/v1/executions/nonsense${suffix}`),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404])
    const bodies = (await Promise.all(answers.map((answer) => answer.text()))).map((text) =>
      text.replaceAll(/exec_\w+|nonsense/g, 'ID').replaceAll(/req_\w+/g, 'REQ'),
    )
    expect(new Set(bodies).size).toBe(1)
  }
})

it('lists the newest executions of all containers, those of the own end user only, and to an operator without results', async () => {
  const { tenant } = await api.newKey()
  await api.table.tenants.create({ v: 1, id: tenant, name: 'runs', createdAt: Date.now() })
  const key = async (subject?: string) => api.newKey({ tenant, ...(subject !== undefined && { subject }) })
  const [ann, bob, whole] = [await key('ann'), await key('bob'), await key()]
  const run = async (owner: typeof ann): Promise<string> => {
    const made = (await (await api.post('/v1/containers', { name: 'x' }, { key: owner })).json()) as { id: string }
    const answer = await api.post(`/v1/containers/${made.id}/executions?wait=0`, { code: '1', metadata: { a: 'b' } }, { key: owner })
    return ((await answer.json()) as { id: string }).id
  }
  const ids = [await run(ann), await run(bob), await run(ann)]
  await finishExecution(api, tenant, ids[2] ?? '', { patch: { status: 'failed', reason: 'oom' }, result: { stdout: 'private' } })
  const list = async (path: string, owner: typeof ann) =>
    (await api.fetch(path, { key: owner })).json() as Promise<{ data: { id: string }[] }>
  expect((await list('/v1/executions', whole)).data.map(({ id }) => id)).toEqual(ids.toReversed())
  expect((await list('/v1/executions?limit=2', whole)).data.map(({ id }) => id)).toEqual([ids[2], ids[1]])
  expect((await list('/v1/executions', bob)).data.map(({ id }) => id)).toEqual([ids[1]])
  const admin = await api.newKey({ scopes: ['admin'] })
  const ofTenant = await list(`/v1/admin/tenants/${tenant}/executions?limit=1`, admin)
  expect(ofTenant.data).toMatchObject([{ id: ids[2], status: 'failed', reason: 'oom', subject: 'ann', metadata: { a: 'b' } }])
  expect(JSON.stringify(ofTenant)).not.toContain('private')
  expect((await api.fetch(`/v1/admin/tenants/${tenant}/executions`, { key: whole })).status).toBe(403)
})
