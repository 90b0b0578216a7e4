import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { guardConnections } from '../../../services/http/connection-guard.ts'

const MOST = 2
/** The ends of the work for requests for `/work`, which lasts until a test ends it. */
const working: (() => void)[] = []
/** A request for `/late` is identified when its client has left, as one whose key is looked up for long. */
const server = createServer((request, response) => {
  const identify = (): void => guard.identify(request, 'tnt_a')
  if (request.url === '/late') {
    request.socket.once('close', () => (identify(), server.emit('late')))
    server.emit('waiting')
    return
  }
  if (request.url === '/work') {
    response.once('close', () => server.emit('left'))
    working.push(guard.hold(request, 'tnt_a'))
    server.emit('working')
    return
  }
  try {
    guard.hold(request, 'tnt_a')()
    response.end('answer')
  } catch {
    response.writeHead(429).end()
  }
})
const guard = guardConnections(server, { stallMs: 30_000, maxKeyless: null, maxOfTenant: MOST, maxAbandoned: MOST })
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function send(path: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  return socket
}

/** Whether a new connection of the tenant is accepted. */
async function isServed(): Promise<boolean> {
  const socket = send('/')
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return String(answer).startsWith('HTTP/1.1 200 ')
}

it('does not count a connection that was closed before its key was known', async () => {
  const kept = send('/').on('error', () => undefined)
  await once(kept, 'data')
  for (let at = 0; at < 2 * MOST; at++) {
    const [waiting, late] = [once(server, 'waiting'), once(server, 'late')]
    const leaving = send('/late')
    await waiting
    leaving.destroy()
    await late
  }
  const second = send('/')
  await once(second, 'data')
  expect(kept.closed).toBe(false)
  kept.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const [answer] = await Promise.race([once(kept, 'data'), once(kept, 'close')])
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of [kept, second]) socket.destroy()
})

it('refuses requests while the work for others, whose clients have left, is in progress', async () => {
  for (let at = 0; at < MOST; at++) {
    const [begun, left] = [once(server, 'working'), once(server, 'left')]
    const leaving = send('/work')
    await begun
    leaving.destroy()
    await left
  }
  expect(working).toHaveLength(MOST)
  expect(await isServed()).toBe(false)
  working.pop()?.()
  expect(await isServed()).toBe(true)
  working.pop()?.()
})
