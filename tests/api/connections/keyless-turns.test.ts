import { setImmediate as nextPass } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnection, requestHead } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const CLIENTS = 100
let api: TestApi
beforeAll(async () => void (api = await startApi()))
afterAll(() => api.stop())

/** The most requests that ended in one pass of the event loop, when all of them arrive in one. */
async function mostInOnePass(head: string): Promise<number> {
  const connections = await Promise.all(Array.from({ length: CLIENTS }, () => openConnection(api.url)))
  const before = api.events.length
  for (const { socket } of connections) socket.write(head)
  let most = 0
  for (let ended = before; ended < before + CLIENTS;) {
    await nextPass()
    most = Math.max(most, api.events.length - ended)
    ended = api.events.length
  }
  for (const { socket } of connections) socket.destroy()
  return most
}

it.each([
  ['a path that does not exist', requestHead('GET /nothing')],
  ['a route without a key', requestHead('GET /v1/limits')],
  ['a route with a wrong key', requestHead('GET /v1/limits', { headers: { authorization: 'Bearer ck_wrong' } })],
  ['a page of another origin', requestHead('GET /v1/limits', { headers: { origin: 'https://example.com' } })],
  ['a document', requestHead('GET /llms.txt')],
])('lets requests of one address for %s begin one by one', async (_, head) => {
  expect(await mostInOnePass(head)).toBeLessThanOrEqual(2)
})
