import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OBJECTS_PATH } from '../../../services/adapters/storage/files/signed-link.ts'
import { openConnection, requestHead } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MiB = 1024 ** 2
const STALL_MS = 2_000
let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { stallMs: STALL_MS } })
})
afterAll(() => api.stop())

/** A client that sends the head of a request without a key, and its body only when it has read the whole answer. */
async function answered(line: string, bytes: number) {
  const { socket, received } = await openConnection(api.url, { allowHalfOpen: true })
  const errors: Error[] = []
  socket.on('error', (error) => errors.push(error))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(requestHead(line, { headers: { 'content-type': 'application/json', 'content-length': String(bytes) } }))
  await once(socket, 'end')
  return { socket, text: received(), errors, closed }
}

it.each([
  ['a request without a key', 'POST /v1/conversations', 401],
  ['an upload with an invalid link', `PUT ${OBJECTS_PATH}/none`, 403],
])('says that the connection ends with the answer to %s, and takes what the client still sends', async (_, line, status) => {
  const { socket, text, errors, closed } = await answered(line, 4 * MiB)
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nconnection: close\\r\\n[^]*\\r\\n\\r\\n[^]*\\{[^]*\\}`, 'i'))
  for (let sent = 0; sent < 4; sent++) {
    socket.write(Buffer.alloc(MiB, ' '))
    await new Promise((resolve) => setTimeout(resolve, STALL_MS / 10))
  }
  socket.end()
  await closed
  expect(errors).toEqual([])
})

it('closes the connection of a client that does not stop', async () => {
  const { socket, errors } = await answered('POST /v1/conversations', 1024 * MiB)
  const dripping = setInterval(() => socket.write(' '), 100)
  await expect.poll(() => socket.closed, { timeout: 5 * STALL_MS }).toBe(true)
  clearInterval(dripping)
  expect(errors).toHaveLength(1)
})

it('keeps the connection of a request that has arrived', async () => {
  const answer = await api.post('/v1/conversations', { items: 1 })
  expect([answer.status, answer.headers.get('connection')]).toEqual([400, 'keep-alive'])
})
