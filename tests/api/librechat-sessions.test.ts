import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findOrCreateSession } from '../../services/wires/librechat/session.ts'
import { createContainer } from '../../services/operations/containers/create-container.ts'
import { finishExecution, headOf } from '../support/finish-execution.ts'
import { exec } from '../support/librechat.ts'
import { startApi, type TestApi, type TestKey } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const request = (hint: string) => ({ lang: 'py', code: '1', runtime_session_hint: hint })
const send = async (hint: string, key?: TestKey): Promise<Record<string, unknown>> =>
  (await (await api.post('/librechat/v1/exec', request(hint), key === undefined ? {} : { key })).json()) as Record<string, unknown>
const containersOf = async (hint: string) =>
  (await api.table.containers.list(api.owner.tenant, { after: null, limit: 100, order: 'desc', name: `librechat:${hint}` })).rows

it('simultaneous first calls with one hint share one container', async () => {
  const { tenant, keyId } = api.owner
  const caller = { tenant, subject: null, keyId, scopes: ['run'] as const }
  const deps = { table: api.table, objects: api.objects, clock: api, limits: createLimitReader(api.table.tenants, api) }
  const sessions = await Promise.all(Array.from({ length: 8 }, () => findOrCreateSession({ deps, caller }, 'parallel')))
  expect(new Set(sessions.map(({ container }) => container.id)).size).toBe(1)
  expect(await containersOf('parallel')).toHaveLength(1)
})

it("finds the end user's container among newer ones of other end users", async () => {
  const { tenant } = api.owner
  const ann = await api.newKey({ tenant, subject: 'ann' })
  const own = await createContainer(api.table, { tenant, subject: 'ann', name: 'librechat:shared', memoryTier: '1g' }, api.now())
  for (let index = 1; index <= 30; index++)
    await createContainer(api.table, { tenant, subject: 'bob', name: 'librechat:shared', memoryTier: '1g' }, api.now() + index)
  const answer = send('shared', ann)
  await expect.poll(async () => (await containersOf('shared')).find(({ queue }) => queue.length > 0)?.id).toBe(own.id)
  await finishExecution(api, tenant, await headOf(api, tenant, own.id))
  expect(await answer).toMatchObject({ runtime_session_id: own.id, runtime_status: 'reused' })
})

it('opens another container when that of the hint was deleted', async () => {
  const ids: string[] = []
  for (const status of ['new', 'new', 'new']) {
    const { body } = await exec(api, request('deleted'), {})
    expect(body['runtime_status']).toBe(status)
    ids.push(String(body['session_id']))
    expect((await api.fetch(`/v1/containers/${ids.at(-1)}`, { method: 'DELETE' })).status).toBe(200)
  }
  expect(new Set(ids).size).toBe(3)
})
