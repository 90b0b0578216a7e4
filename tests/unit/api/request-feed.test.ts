import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { guardConnections } from '../../../services/http/connection-guard.ts'
import { seeded } from '../../support/seeded.ts'

let received = 0
let onReceived = (): void => undefined
let running = 0
let mostRunning = 0
/** Answers with what it received, some time later. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  mostRunning = Math.max(mostRunning, ++running)
  response.once('close', () => running--)
  const body = await text(request)
  await new Promise((resolve) => setImmediate(resolve))
  response.end(`<${request.method} ${request.url} ${body}>`)
}
const server = createServer((request, response) => {
  received++
  onReceived()
  void echo(request, response)
})
guardConnections(server, { stallMs: 30_000, maxKeyless: null, maxOfTenant: 2_000, maxAbandoned: 100 })
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const head = (line: string, fields: string): string => `${line} HTTP/1.1\r\nhost: a\r\n${fields}\r\n`
const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`

/** The bytes of a request, and how the answer names it. */
type Sent = readonly [bytes: string, echoed: string]
const GET: Sent = [head('GET /a', ''), '<GET /a >']
const REQUESTS: readonly Sent[] = [
  GET,
  [`${head('POST /b', 'content-length: 5\r\n')}hello`, '<POST /b hello>'],
  // The body looks like the end of a head, and like another request.
  [`${head('POST /c', 'content-length: 8\r\n')}\r\n\r\n\r\n\r\n`, '<POST /c \r\n\r\n\r\n\r\n>'],
  [`${head('PUT /d', `content-length: ${GET[0].length}\r\n`)}${GET[0]}`, `<PUT /d ${GET[0]}>`],
  [`${head('POST /e', 'transfer-encoding: chunked\r\n')}${chunk('one\r\n\r\n')}${chunk('two')}0\r\n\r\n`, '<POST /e one\r\n\r\ntwo>'],
  [`${head('POST /f', 'transfer-encoding: chunked\r\n')}${chunk('x')}0\r\nx-trailer: y\r\n\r\n`, '<POST /f x>'],
  [head('POST /g', 'content-length: 0\r\n'), '<POST /g >'],
]

/** What the server answers to all requests when they arrive in pieces. */
async function exchange(requests: readonly Sent[], pieceLength: () => number): Promise<readonly string[]> {
  const bytes = Buffer.from(requests.map(([sent]) => sent).join(''))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay(true)
  let answer = ''
  socket.on('data', (data: Buffer) => (answer += data.toString()))
  await once(socket, 'connect')
  for (let at = 0; at < bytes.length;) {
    const length = pieceLength()
    await new Promise<void>((resolve) => socket.write(bytes.subarray(at, at + length), () => resolve()))
    at += length
  }
  const answers = (): readonly string[] => answer.match(/<[^>]*>/g) ?? []
  await expect.poll(() => answers().length, { timeout: 10_000 }).toBe(requests.length)
  socket.destroy()
  return answers()
}

it('reads one request of a connection at a time, wherever its bytes are divided', async () => {
  const random = seeded(7)
  for (const most of [1, 3, 40, 400, 100_000])
    for (let round = 0; round < 6; round++) {
      const requests = Array.from({ length: 12 }, () => REQUESTS[Math.floor(random() * REQUESTS.length)] ?? GET)
      const answers = await exchange(requests, () => 1 + Math.floor(random() * most))
      expect(answers, `pieces of up to ${most} bytes`).toEqual(requests.map(([, echoed]) => echoed))
    }
  expect(mostRunning).toBe(1)
})

it('parses no request of a connection that its client has closed already', async () => {
  const before = received
  for (let at = 0; at < 50; at++) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(GET[0])
    await once(socket.resume(), 'close')
  }
  expect(received).toBe(before)
  expect(await exchange([GET], () => 1_000)).toEqual([GET[1]])
})

it('closes connections that end or are reset before their first request', async () => {
  const before = received
  const { port } = server.address() as AddressInfo
  const ended = connect(port, '127.0.0.1')
  ended.resume().end()
  await once(ended, 'close')
  for (const first of ['', GET[0]]) {
    const reset = connect(port, '127.0.0.1')
    await once(reset, 'connect')
    if (first !== '') reset.write(first)
    reset.resetAndDestroy()
  }
  expect(await exchange([GET], () => 1_000)).toEqual([GET[1]])
  expect(received).toBe(before + 1)
})

it('parses what others sent in parts of a millisecond, and serves a client between two of them', async () => {
  const { port } = server.address() as AddressInfo
  const before = received
  // Each of them takes the parser several turns, also on a fast machine.
  const bytes = Buffer.from(head('POST /chunks', 'transfer-encoding: chunked\r\n') + chunk('x').repeat(20_000) + '0\r\n\r\n')
  let floodAnswers = 0
  const flood = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.once('data', () => floodAnswers++)
      await once(socket, 'connect')
      return socket
    }),
  )
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  await once(other, 'connect')
  // Not polled: a fast machine parses all of them between two polls.
  const begun = new Promise<void>((resolve) => {
    onReceived = () => {
      if (received - before === flood.length) resolve()
    }
  })
  for (const socket of flood) socket.write(bytes)
  await begun
  other.write(GET[0])
  await once(other, 'data')
  expect(floodAnswers).toBe(0)
  await expect.poll(() => floodAnswers, { timeout: 30_000 }).toBe(flood.length)
  for (const socket of [...flood, other]) socket.destroy()
})
