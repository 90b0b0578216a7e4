import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnection, requestHead } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** Unlike fetch, this sends the target as it is. */
async function get(target: string): Promise<readonly [status: number, text: string]> {
  const connection = await openConnection(api.url)
  connection.socket.write(requestHead(`GET ${target}`, { key: api.owner, headers: { connection: 'close' } }))
  const status = await connection.status()
  await expect.poll(connection.isClosed).toBe(true)
  return [status, connection.received()]
}

it.each([
  '/docs/../v1/models',
  '/docs/%2e%2e/v1/models',
  '/docs/.%2E/v1/models',
  '/docs\\..\\v1/models',
  '/v1/./models',
  '/v1/models/%2e',
  '/v1/models/x/..',
  '/v1/models/x/..?limit=1',
  'http://localhost/docs/../v1/models',
])('refuses the target %s before it is routed', async (target) => {
  expect(await get(target)).toEqual([400, expect.stringContaining('has a segment')])
})

it.each(['/v1/models', '/v1/models?after=../x', '/v1/models?a=/%2e%2e/'])('accepts the target %s', async (target) => {
  expect((await get(target))[0]).toBe(200)
})

it('answers other names with dots as any unknown path', async () => {
  for (const target of ['/v1/...', '/v1/.well-known']) expect((await get(target))[0]).toBe(404)
})
