import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnection, requestHead, type RawConnection } from '../../support/raw-connection.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const MOST = 5
let api: TestApi
beforeAll(async () => {
  api = await startApi({ maxOfTenant: MOST })
})
afterAll(() => api.stop())

async function request(key: TestKey, line = 'GET /v1/containers'): Promise<RawConnection> {
  const connection = await openConnection(api.url)
  connection.socket.write(requestHead(line, { key }))
  return connection
}

/** Connections on which a request was answered. */
async function answered(key: TestKey, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = []
  for (let at = 0; at < count; at++) {
    const connection = await request(key)
    expect(await connection.status()).toBe(200)
    connections.push(connection)
  }
  return connections
}

it('closes the oldest connection of a tenant that no request uses, and none of another tenant', async () => {
  const [hostile, other] = [await api.newKey(), await api.newKey()]
  const [kept] = await answered(other, 1)
  const connections = await answered(hostile, 2 * MOST)
  await expect
    .poll(() => connections.map(({ isClosed }) => isClosed()))
    .toEqual([...Array<true>(MOST).fill(true), ...Array<false>(MOST).fill(false)])
  expect(kept?.isClosed()).toBe(false)
  for (const { socket } of connections) socket.destroy()
})

it('refuses a request of a tenant whose connections are all in use', async () => {
  const key = await api.newKey()
  const { id: containerId } = await api.openai(key).containers.create({ name: 'streams' })
  const accepted = await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' }, { key })
  const { id } = (await accepted.json()) as { readonly id: string }
  const streams: RawConnection[] = []
  for (let at = 0; at < MOST; at++) {
    const stream = await request(key, `GET /v1/executions/${id}/events`)
    expect(await stream.status()).toBe(200)
    streams.push(stream)
  }

  const refused = await request(key)
  expect(await refused.status()).toBe(429)
  expect(refused.received()).toMatch(/"code":"too_many_connections"/)
  expect(refused.received()).toMatch(/x-limit-name: max_tenant_connections/i)
  await answered(await api.newKey(), 1)

  streams[0]?.socket.destroy()
  await expect.poll(async () => (await request(key)).status()).toBe(200)
  expect(streams.slice(1).every(({ isClosed }) => !isClosed())).toBe(true)
  for (const { socket } of [refused, ...streams]) socket.destroy()
})
