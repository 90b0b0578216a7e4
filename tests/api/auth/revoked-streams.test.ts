import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 100 } })
})
afterAll(() => api.stop())

it('revoking a key ends its open streams, but not the work or the streams of other keys of the tenant', async () => {
  const other = await api.newKey({ tenant: api.owner.tenant })
  const { id: container } = await api.openai().containers.create({ name: 'x' })
  const { id } = (await (await api.post(`/v1/containers/${container}/executions?wait=0`, { code: 'x' })).json()) as { id: string }
  const { id: turn } = await api.openai().responses.create({ model: 'demo', input: 'hello', background: true })
  const ended: string[] = []
  const leaving = new AbortController()
  const follow = async (name: string, path: string, key: TestKey): Promise<void> => {
    const answer = await api.fetch(path, { key, signal: leaving.signal })
    expect(answer.status).toBe(200)
    void answer.text().then(
      () => ended.push(name),
      () => undefined,
    )
  }
  await follow('events', `/v1/executions/${id}/events`, api.owner)
  await follow('response', `/v1/responses/${turn}?stream=true`, api.owner)
  await follow('of another key', `/v1/executions/${id}/events`, other)
  await api.table.tenants.revokeKey(api.owner.keyId, Date.now())
  await expect.poll(() => ended.toSorted()).toEqual(['events', 'response'])
  expect((await api.fetch(`/v1/executions/${id}/events`)).status).toBe(401)
  expect(await (await api.fetch(`/v1/executions/${id}`, { key: other })).json()).toMatchObject({ status: 'queued' })
  expect(ended).not.toContain('of another key')
  leaving.abort()
})
