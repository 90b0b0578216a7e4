import { afterAll, beforeAll, expect, it } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { newId } from '../../../services/model/ids.ts'
import { heldBytes, openConnection, requestHead } from '../../support/raw-connection.ts'
import { executionRow } from '../../support/rows.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const OTHERS = 20
let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** Requests of a route that were started so far. */
const ended = (route: string): number => api.events.filter((event) => event.event === 'http.request' && event['route'] === route).length

it('starts a request when the one before it on its connection is answered', async () => {
  const { id: containerId } = await api.openai().containers.create({ name: 'c' })
  const { tenant } = api.owner
  const id = newId('execution')
  await acceptExecution(api, { ...executionRow({ tenant, containerId, id }) }, api.now())
  const connection = await openConnection(api.url)
  const waits = requestHead(`GET /v1/executions/${id}?wait=5`, { key: api.owner })
  connection.socket.write(waits + requestHead('GET /v1/limits', { key: api.owner }).repeat(3))
  // Other connections are served meanwhile, often enough that the requests behind the first one would have been.
  for (let call = 0; call < OTHERS; call++) expect((await api.fetch('/v1/limits')).status).toBe(200)
  expect([ended('getExecution'), ended('getLimits')]).toEqual([0, OTHERS])
  await expect.poll(() => [ended('getExecution'), ended('getLimits')]).toEqual([1, OTHERS + 3])
  await expect.poll(() => connection.received().match(/HTTP\/1\.1 200/g)).toHaveLength(4)
  connection.socket.destroy()
})

it('reads no request of a connection before the one before it is answered, and serves another client meanwhile', async () => {
  const MiB = 1024 ** 2
  const before = heldBytes()
  const flood = await Promise.all(Array.from({ length: 100 }, () => openConnection(api.url)))
  // 64 KiB hold 2,000 requests. A server that reads ahead holds 16 MB of each connection.
  const bytes = Buffer.from(requestHead('GET /v1/limits').repeat(20_000))
  for (const { socket } of flood) socket.write(bytes)
  await expect.poll(() => flood.filter(({ received }) => received().includes('HTTP/1.1 ')).length).toBe(flood.length)
  const answered = () => flood.reduce((sum, { received }) => sum + (received().match(/HTTP\/1\.1 /g)?.length ?? 0), 0)
  const atFirst = answered()
  expect((await api.fetch('/v1/limits')).status).toBe(200)
  expect(answered() - atFirst).toBeLessThan(flood.length * 20)
  expect((heldBytes() - before) / MiB).toBeLessThan(64)
  for (const { socket } of flood) socket.destroy()
})
