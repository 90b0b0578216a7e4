import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

interface Snapshot {
  readonly id: string
  readonly name: string
  readonly container_id: string
  readonly error: { readonly code: string; readonly param: string | null }
  readonly data: readonly { readonly id: string; readonly name: string }[]
}
const call = async (
  method: string,
  path: string,
  { body, key, headers = {} }: { body?: unknown; key?: TestKey; headers?: Record<string, string> } = {},
) => {
  const answer = await api.fetch(path, {
    method,
    ...(key && { key }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Snapshot }
}
const newContainer = async (key = api.owner): Promise<string> => (await api.openai(key).containers.create({ name: 'source' })).id
const save = (id: string, body: unknown = {}, init: { key?: TestKey; headers?: Record<string, string> } = {}) =>
  call('POST', `/v1/containers/${id}/snapshots`, { body, ...init })
const filesOf = async (id: string): Promise<string[]> => (await api.openai().containers.files.list(id)).data.map(({ path }) => path)

describe('a snapshot', () => {
  it('has the files of its container at that time, is listed by name and container, and starts containers', async () => {
    const id = await newContainer()
    await api.openai().containers.files.create(id, { file: new File(['x'], 'before.txt') })
    const { body: snapshot } = await save(id, { name: 'prepared' })
    expect(snapshot).toMatchObject({ object: 'snapshot', name: 'prepared', container_id: id, has_processes: false })
    await api.openai().containers.files.create(id, { file: new File(['x'], 'after.txt') })
    await api.openai().containers.delete(id)
    const { body: made } = await call('POST', `/v1/snapshots/${snapshot.id}/containers`, { body: { count: 2 } })
    expect(made.data.map(({ name }) => name)).toEqual(['prepared copy 1', 'prepared copy 2'])
    for (const copy of made.data) expect(await filesOf(copy.id)).toEqual(['/mnt/data/before.txt'])
    const found = async (query: string) => (await call('GET', `/v1/snapshots${query}`)).body.data.map((one) => one.id)
    expect(await found('?name=prepared')).toEqual([snapshot.id])
    expect(await found(`?container_id=${id}`)).toEqual([snapshot.id])
    expect([await found('?name=x'), await found(`?container_id=${newId('container')}`)]).toEqual([[], []])
    expect((await api.openai().containers.list()).data.map((one) => one.id)).not.toContain(snapshot.id)
  })

  it('is no container for any other call, and gone after its deletion', async () => {
    const id = await newContainer()
    const { body: snapshot } = await save(id)
    expect(snapshot.name).toBe('source')
    for (const path of ['', '/files', '/executions']) expect((await call('GET', `/v1/containers/${snapshot.id}${path}`)).status).toBe(404)
    expect((await save(snapshot.id)).status).toBe(404)
    expect((await call('DELETE', `/v1/snapshots/${snapshot.id}`)).body).toEqual({
      id: snapshot.id,
      object: 'snapshot.deleted',
      deleted: true,
    })
    expect((await call('DELETE', `/v1/snapshots/${snapshot.id}`)).body.error.code).toBe('snapshot_not_found')
    expect((await call('POST', `/v1/snapshots/${snapshot.id}/containers`, { body: {} })).body.error.code).toBe('snapshot_not_found')
    expect(await api.table.containers.get(api.owner.tenant, snapshot.id)).toMatchObject({ dueAt: expect.any(Number) })
  })

  it('is made once with an Idempotency-Key, and counts as a container', async () => {
    const key = await api.newKey()
    await api.table.tenants.create({ v: 1, id: key.tenant, name: 'small', createdAt: Date.now(), policy: { limits: { containers: 2 } } })
    const id = await newContainer(key)
    const headers = { 'idempotency-key': 'one' }
    const first = await save(id, {}, { key, headers })
    expect((await save(id, {}, { key, headers })).body).toEqual(first.body)
    expect((await save(id, {}, { key })).body.error.code).toBe('storage_exhausted')
    await call('DELETE', `/v1/snapshots/${first.body.id}`, { key })
    expect((await save(id, {}, { key })).status).toBe(200)
  })

  it('of another tenant or end user is answered like none', async () => {
    const user = await api.newKey({ tenant: api.owner.tenant, subject: 'user-1' })
    const { body: snapshot } = await save(await newContainer(user), {}, { key: user })
    const other = await api.newKey({ tenant: api.owner.tenant, subject: 'user-2' })
    for (const key of [other, api.otherTenant]) {
      expect((await call('GET', `/v1/snapshots/${snapshot.id}`, { key })).body.error.code).toBe('snapshot_not_found')
      expect((await call('GET', '/v1/snapshots', { key })).body.data.map((one) => one.id)).not.toContain(snapshot.id)
    }
    expect((await call('GET', `/v1/snapshots/${snapshot.id}`, { key: user })).status).toBe(200)
  })

  it.each([{ name: '' }, { name: 'x'.repeat(257) }, { name: '\uD800' }, { names: ['x'] }])('is refused with %o', async (body) => {
    expect((await save(await newContainer(), body)).status).toBe(400)
  })
})
