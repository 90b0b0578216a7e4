import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { startApi } from '../../support/start-api.ts'
import { PORT, startPorts, type TestPorts } from '../../support/start-ports.ts'

let ports: TestPorts
beforeAll(async () => {
  ports = await startPorts((_request, response) => void response.end('program'))
})
afterAll(() => ports.stop())

const codeOf = async (answer: Response) => {
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string; readonly message: string } }
  return [answer.status, error?.code]
}

it('publishes a port on a separate origin, with a link, a token and an end', async () => {
  const id = await ports.container()
  const published = await ports.publish(id)
  const server = new URL(ports.api.url)
  expect(published.origin).toMatch(new RegExp(`^http://${PORT}-[0-9a-z]{46,56}\\.localhost:${server.port}$`))
  expect(published.url.startsWith(`${published.origin}/?cellblock_link=`)).toBe(true)
  expect(Date.parse(published.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000)
  const listed = (await (await ports.api.fetch(`/v1/containers/${id}/ports`)).json()) as { readonly data: unknown[] }
  expect(listed.data).toEqual([expect.objectContaining({ object: 'container.port', port: PORT, origin: published.origin })])
  expect(JSON.stringify(listed)).not.toContain(published.token)
})

it('a repetition keeps the token and answers another link', async () => {
  const id = await ports.container()
  const [first, second] = [await ports.publish(id), await ports.publish(id)]
  expect(second.token).toBe(first.token)
  expect(second.url).not.toBe(first.url)
})

it('refuses numbers that are no ports, the port of the network, and times out of range', async () => {
  const id = await ports.container()
  const post = (body: unknown) => ports.api.post(`/v1/containers/${id}/ports`, body)
  for (const port of [0, 65_536, 1.5, '8501']) expect(await codeOf(await post({ port }))).toEqual([400, 'invalid_request'])
  expect(await codeOf(await post({ port: 3128 }))).toEqual([400, 'unsupported_value'])
  expect(await codeOf(await post({ port: PORT, expires_in_seconds: 5 }))).toEqual([400, 'invalid_request'])
})

it('answers for a container of another tenant as for none, and needs the scope to run code', async () => {
  const id = await ports.container()
  const { api } = ports
  for (const [containerId, key] of [
    [id, api.otherTenant],
    [newId('container'), api.owner],
  ] as const) {
    expect(await codeOf(await api.post(`/v1/containers/${containerId}/ports`, { port: PORT }, { key }))).toEqual([
      404,
      'container_not_found',
    ])
    expect(await codeOf(await api.fetch(`/v1/containers/${containerId}/ports`, { key }))).toEqual([404, 'container_not_found'])
    const removed = await api.fetch(`/v1/containers/${containerId}/ports/${PORT}`, { method: 'DELETE', key })
    expect(await codeOf(removed)).toEqual([404, 'container_not_found'])
  }
  const reader = await api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })
  expect((await api.post(`/v1/containers/${id}/ports`, { port: PORT }, { key: reader })).status).toBe(403)
})

it('unpublishes, and says whether there was something', async () => {
  const id = await ports.container()
  await ports.publish(id)
  const remove = async () => (await ports.api.fetch(`/v1/containers/${id}/ports/${PORT}`, { method: 'DELETE' })).json()
  expect(await remove()).toMatchObject({ deleted: true })
  expect(await remove()).toMatchObject({ deleted: false })
})

describe('the number of published ports of an account', () => {
  it('is bounded; ports of deleted containers do not count', async () => {
    const { api } = ports
    const key = await api.newKey()
    const policy = { limits: { publishedPorts: 2 } }
    await api.table.tenants.create({ v: 1, id: key.tenant, name: 'small', createdAt: api.now(), policy })
    const [first, second] = [await ports.container(key), await ports.container(key)]
    await ports.publish(first, 1_000, key)
    await ports.publish(second, 1_000, key)
    // A published one may be published again.
    await ports.publish(second, 1_000, key)
    const refused = await api.post(`/v1/containers/${second}/ports`, { port: 2_000 }, { key })
    expect(await codeOf(refused)).toEqual([400, 'limit_exceeded'])
    await api.fetch(`/v1/containers/${first}`, { method: 'DELETE', key })
    await ports.publish(second, 2_000, key)
  })
})

it('a server without a domain for ports says what is missing', async () => {
  const bare = await startApi()
  try {
    const { id } = (await (await bare.post('/v1/containers', { name: 'x' })).json()) as { readonly id: string }
    const answer = await bare.post(`/v1/containers/${id}/ports`, { port: PORT })
    expect([answer.status, await answer.text()]).toEqual([501, expect.stringContaining('CELLBLOCK_PORTS_DOMAIN')])
  } finally {
    await bare.stop()
  }
})
