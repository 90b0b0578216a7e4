import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Authenticate } from '../../../services/http/authenticate.ts'
import { defineRoute, type AnyRoute } from '../../../services/http/route.ts'
import { openConnection, requestHead, type RawConnection } from '../../support/raw-connection.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const MOST = 5
const common = { method: 'get', tag: 'Service', summary: '', answers: {}, scope: 'read' } as const

/** Work that lasts until the test ends it, whether or not its client waits. */
const working: (() => void)[] = []
const work = defineRoute({
  ...common,
  path: '/work',
  auth: 'key',
  operationId: 'work',
  handle: async () => {
    await new Promise<void>((resolve) => working.push(resolve))
    return Response.json({})
  },
})

/** Keys that are looked up until the test lets them be found. */
const lookups: (() => void)[] = []
let handled = 0
const lateKey = defineRoute({
  ...common,
  path: '/late-key',
  auth: {
    authenticate: async (request: Request, _: unknown, byKey: Authenticate) => {
      await new Promise<void>((resolve) => lookups.push(resolve))
      return byKey(request)
    },
  },
  operationId: 'lateKey',
  handle: () => {
    handled += 1
    return Response.json({})
  },
})
const plain = defineRoute({ ...common, path: '/plain', auth: 'key', operationId: 'plain', handle: () => Response.json({}) })

let api: TestApi
beforeAll(async () => void (api = await startApi({ routes: [work, lateKey, plain] as readonly AnyRoute[], maxAbandoned: MOST })))
afterAll(() => api.stop())

async function send(path: string, key: TestKey): Promise<RawConnection> {
  const connection = await openConnection(api.url)
  connection.socket.write(requestHead(`GET ${path}`, { key }))
  return connection
}

async function statusOf(path: string, key: TestKey): Promise<number> {
  const connection = await send(path, key)
  const status = await connection.status()
  connection.socket.destroy()
  return status
}

it('counts requests whose client has left until their work has ended', async () => {
  const [hostile, other] = [await api.newKey(), await api.newKey()]
  const left = await Promise.all(Array.from({ length: MOST }, () => send('/work', hostile)))
  await expect.poll(() => working.length).toBe(MOST)
  for (const { socket } of left) socket.destroy()
  // The server has read the ends of these connections when it serves one that was opened later.
  expect(await statusOf('/plain', other)).toBe(200)
  const refused = await send('/plain', hostile)
  expect(await refused.status()).toBe(429)
  expect(refused.received()).toMatch(/"code":"too_many_connections"/)
  expect(refused.received()).toMatch(/x-limit-name: max_abandoned_requests/i)
  refused.socket.destroy()
  expect(working).toHaveLength(MOST)
  for (const end of working) end()
  await expect.poll(() => statusOf('/plain', hostile)).toBe(200)
})

it('performs no request whose client left before it began', async () => {
  const leaving = await send('/late-key', api.owner)
  await expect.poll(() => lookups.length).toBe(1)
  leaving.socket.destroy()
  expect(await statusOf('/plain', api.owner)).toBe(200)
  lookups.shift()?.()
  await expect.poll(() => api.events.find(({ route }) => route === 'lateKey')?.['code']).toBe('client_left')
  expect(handled).toBe(0)

  const staying = await send('/late-key', api.owner)
  await expect.poll(() => lookups.length).toBe(1)
  lookups.shift()?.()
  expect(await staying.status()).toBe(200)
  expect(handled).toBe(1)
  staying.socket.destroy()
})
