import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { newObjectKey, objectPrefix } from '../../../services/model/object-keys.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let failNextPut = -1
/** Runs once, before the next object is stored. */
let beforePut: (() => Promise<unknown>) | null = null
let api: TestApi
beforeAll(async () => {
  api = await startApi({
    wrapObjects: (objects) => ({
      ...objects,
      async put(...call) {
        const before = beforePut
        beforePut = null
        await before?.()
        if (failNextPut-- === 0) throw new Error('The store is not available.')
        return objects.put(...call)
      },
    }),
  })
})
afterAll(() => api.stop())

interface Answer {
  readonly status: number
  readonly body: {
    readonly data: readonly { readonly id: string; readonly name: string; readonly has_processes: boolean }[]
    readonly error: { readonly code: string; readonly message: string; readonly param: string | null }
  }
}
async function fork(id: string, body: unknown = {}, init: { key?: TestKey; headers?: Record<string, string> } = {}): Promise<Answer> {
  const answer = await api.post(`/v1/containers/${id}/fork`, body, init)
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}
const newContainer = async (body: Record<string, unknown> = {}, key = api.owner): Promise<string> => {
  const answer = await api.post('/v1/containers', { name: 'source', ...body }, { key })
  return ((await answer.json()) as { id: string }).id
}
const upload = (id: string, path: string, text: string, key = api.owner) =>
  api.openai(key).containers.files.create(id, { file: new File([text], path) })
const listed = async (key = api.owner) => (await api.openai(key).containers.list({ limit: 100 })).data.map(({ id }) => id)
const rowOf = async (id: string, tenant = api.owner.tenant) => {
  const row = await api.table.containers.get(tenant, id)
  if (row === null) throw new Error('There is no such container')
  return row
}
async function textOf(objectKey = ''): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of (await api.objects.get(objectKey))?.body ?? []) parts.push(part)
  return Buffer.concat(parts).toString()
}
/** As a worker leaves it. */
async function hibernate(id: string, text: string, key = api.owner): Promise<void> {
  const { tenant } = key
  const objectKey = newObjectKey(tenant, 'snapshots', id)
  await api.objects.put(objectKey, Buffer.from(text), { contentType: 'application/octet-stream' })
  await api.table.containers.setSandbox(tenant, id, { generation: 0, sandboxId: 'sbx_x', stateLost: null, dueAt: null })
  const { lastActiveAt } = await rowOf(id, tenant)
  const claim = { objectKey, expiresAt: api.now() + 1_000 }
  await api.table.containers.claimHibernation(tenant, id, { idle: { generation: 1, lastActiveAt }, claim, now: api.now() })
  const snapshot = { objectKey, bytes: text.length, takenAt: 1, tries: 2, triedBy: 1, isRestored: false }
  const lostFiles = [{ what: 'file "pipe"', reason: 'not a file' }]
  await api.table.containers.hibernate(tenant, id, { objectKey, snapshot, stateLost: null, lostFiles, dueAt: api.now() })
}

describe('copies', () => {
  it('have files, variables, limits and losses of the source, and nothing of its identity', async () => {
    const id = await newContainer({
      limits: { cpu_seconds: 30 },
      memory_limit: '1g',
      expires_after: { anchor: 'last_active_at', minutes: 7 },
    })
    await upload(id, 'old.txt', 'old')
    await upload(id, 'a.txt', 'content of a')
    await upload(id, 'old.txt', 'new')
    await hibernate(id, 'variables')
    const source = await rowOf(id)
    const { status, body } = await fork(id, { count: 2 })
    expect([status, body.data.length]).toEqual([200, 2])
    expect(body.data.map(({ name, has_processes }) => [name, has_processes])).toEqual([
      ['source copy 1', false],
      ['source copy 2', false],
    ])
    const objects = new Set([source.snapshot?.objectKey])
    for (const copy of body.data) {
      const row = await rowOf(copy.id)
      expect(row).toMatchObject({
        ...{ limits: { cpuSeconds: 30 }, memoryTier: '1g', expiresAfterMinutes: 7, sandboxId: null, deletedAt: null },
        ...{ lostFiles: source.lostFiles, snapshot: { isRestored: false, isCopy: true, tries: 0, bytes: 9 } },
      })
      expect(row).not.toHaveProperty('publishBefore')
      const files = await api.openai().containers.files.list(copy.id)
      const texts = await Promise.all(
        files.data.map(async (file) => [
          file.path,
          await (await api.openai().containers.files.content.retrieve(file.id, { container_id: copy.id })).text(),
        ]),
      )
      expect(texts.toSorted()).toEqual([
        ['/mnt/data/a.txt', 'content of a'],
        ['/mnt/data/old.txt', 'new'],
      ])
      expect(await textOf(row.snapshot?.objectKey)).toBe('variables')
      objects.add(row.snapshot?.objectKey)
      expect(row.snapshot?.objectKey.startsWith(objectPrefix(api.owner.tenant, copy.id))).toBe(true)
    }
    expect(objects.size).toBe(3)
    await api.openai().containers.delete(id)
    expect(await api.objects.get((await rowOf(body.data[0]?.id ?? '')).snapshot?.objectKey ?? '')).not.toBeNull()
  })

  it('keep their own files after the source has changed, and the other way round', async () => {
    const id = await newContainer()
    await upload(id, 'a.txt', 'first')
    const copy = (await fork(id)).body.data[0]?.id ?? ''
    await upload(copy, 'a.txt', 'of the copy')
    await upload(id, 'a.txt', 'of the source')
    const textIn = async (container: string): Promise<string[]> => {
      const { data } = await api.openai().containers.files.list(container)
      return Promise.all(
        data.map(async (file) => (await api.openai().containers.files.content.retrieve(file.id, { container_id: container })).text()),
      )
    }
    expect([await textIn(id), await textIn(copy)]).toEqual([['of the source'], ['of the copy']])
  })

  it('belong to the end user of the source', async () => {
    const user = await api.newKey({ tenant: api.owner.tenant, subject: 'user-1' })
    const id = await newContainer({}, user)
    const copy = (await fork(id)).body.data[0]?.id ?? ''
    expect(await listed(user)).toContain(copy)
    const other = await api.newKey({ tenant: api.owner.tenant, subject: 'user-2' })
    expect(await listed(other)).not.toContain(copy)
    expect((await fork(copy, {}, { key: other })).status).toBe(404)
  })

  it('of a container with the longest name have a name that is allowed', async () => {
    const id = await newContainer({ name: 'é'.repeat(LIMITS.maxContainerNameBytes / 2) })
    const { name = '' } = (await fork(id)).body.data[0] ?? {}
    expect([Buffer.byteLength(name) <= LIMITS.maxContainerNameBytes, name.endsWith('é copy 1')]).toEqual([true, true])
  })
})

describe('a request', () => {
  it('is refused for containers of other tenants as for none, and without the scope to run code', async () => {
    const id = await newContainer()
    expect((await fork(id, {}, { key: api.otherTenant })).body.error.code).toBe('container_not_found')
    expect((await fork(newId('container'))).body.error.code).toBe('container_not_found')
    const reader = await api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })
    expect((await fork(id, {}, { key: reader })).status).toBe(403)
  })

  it.each([0, -1, 1.5, LIMITS.maxForks + 1, '2'])('for %s copies is refused', async (count) => {
    const { status, body } = await fork(await newContainer(), { count })
    expect([status, body.error.param]).toEqual([400, 'count'])
  })

  it('is refused while the container is in use, and names what to do', async () => {
    const id = await newContainer()
    await api.table.containers.enqueue(api.owner.tenant, id, { executionId: newId('execution'), now: api.now(), dueAt: api.now() })
    const { status, body } = await fork(id)
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain('Wait for it or cancel it')
  })

  it('is refused when the container is used while it is copied, and leaves no copy', async () => {
    const key = await api.newKey()
    const id = await newContainer({}, key)
    await upload(id, 'a.txt', 'first', key)
    beforePut = () => upload(id, 'a.txt', 'second', key)
    const { status, body } = await fork(id, { count: 2 }, { key })
    expect([status, body.error.code, await listed(key)]).toEqual([409, 'conflict', [id]])
    expect((await fork(id, { count: 2 }, { key })).status).toBe(200)
  })

  it('makes one set of copies with an Idempotency-Key, and refuses another count', async () => {
    const id = await newContainer()
    const headers = { 'idempotency-key': 'set' }
    const first = await fork(id, { count: 2 }, { headers })
    const before = await listed()
    const again = await fork(id, { count: 2 }, { headers })
    expect(again.body.data).toEqual(first.body.data)
    expect(await listed()).toEqual(before)
    expect((await fork(id, { count: 3 }, { headers })).body.error.code).toBe('idempotency_key_reused')
    expect((await fork(id, { count: 2 })).body.data).not.toEqual(first.body.data)
  })

  it('that fails in any write leaves no copy and no object, and its repetition makes the copies', async () => {
    const key = await api.newKey()
    const id = await newContainer({}, key)
    for (const name of ['a.txt', 'b.txt']) await upload(id, name, name, key)
    await hibernate(id, 'variables', key)
    const { tenant } = key
    const stored = await api.objects.sizeOf(`tenants/${tenant}/`)
    for (let at = 0; at < 6; at++) {
      failNextPut = at
      const headers = { 'idempotency-key': `failing-${at}` }
      expect((await fork(id, { count: 2 }, { key, headers })).status).toBe(500)
      expect([at, await listed(key), await api.objects.sizeOf(`tenants/${tenant}/`)]).toEqual([at, [id], stored])
    }
    failNextPut = -1
    const { body } = await fork(id, { count: 2 }, { key, headers: { 'idempotency-key': 'failing-0' } })
    expect((await listed(key)).toSorted()).toEqual([id, ...body.data.map((copy) => copy.id)].toSorted())
  })

  it('beyond the storage or the containers of the account copies nothing', async () => {
    for (const limits of [{ storageBytes: 300_000 }, { containers: 2 }]) {
      const key = await api.newKey()
      await api.table.tenants.create({ v: 1, id: key.tenant, name: 'small', createdAt: Date.now(), policy: { limits } })
      const id = await newContainer({}, key)
      await upload(id, 'a.bin', 'x'.repeat(80_000), key)
      const stored = await api.objects.sizeOf(`tenants/${key.tenant}/`)
      const { status, body } = await fork(id, { count: 3 }, { key })
      expect([status, body.error.code]).toEqual([429, 'storage_exhausted'])
      expect([await listed(key), await api.objects.sizeOf(`tenants/${key.tenant}/`)]).toEqual([[id], stored])
      expect((await fork(id, { count: 1 }, { key })).status).toBe(200)
    }
  })
})
