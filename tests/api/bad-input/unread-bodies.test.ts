import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** Sends a request's head, waits for the first bytes, then sends the body if the server asks for it; returns everything that it answered. */
async function send(path: string, headers: readonly string[], body: string): Promise<readonly string[]> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8')
  const answers: string[] = []
  socket.write([`POST ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n'))
  for await (const piece of socket as AsyncIterable<string>) {
    answers.push(piece)
    if (piece.startsWith('HTTP/1.1 100')) socket.write(body)
    else if (piece.startsWith('HTTP/1.1')) socket.end()
  }
  return answers
}
const json = ['Content-Type: application/json', 'Expect: 100-continue']

it('asks for a body only after it has accepted the key', async () => {
  const length = `Content-Length: ${90 * 1024 * 1024}`
  for (const key of [[], ['Authorization: Bearer ck_wrong']]) {
    const [first = ''] = await send('/v1/containers', [...json, length, ...key], '')
    expect(first).toMatch(/^HTTP\/1\.1 401 /)
  }
})

it('asks for no body that is too large, of another type or for no route', async () => {
  const key = `Authorization: Bearer ${api.owner.key}`
  const large = `Content-Length: ${90 * 1024 * 1024}`
  expect((await send('/v1/containers', [...json, key, large], ''))[0]).toMatch(/^HTTP\/1\.1 413 /)
  expect((await send('/v1/containers', ['Content-Type: text/xml', 'Expect: 100-continue', key, 'Content-Length: 4'], ''))[0]).toMatch(
    /^HTTP\/1\.1 415 /,
  )
  expect((await send('/nothing', [...json, key, large], ''))[0]).toMatch(/^HTTP\/1\.1 404 /)
})

it('asks for the body of an accepted request and answers it', async () => {
  const body = JSON.stringify({ name: 'expected' })
  const answers = await send('/v1/containers', [...json, `Authorization: Bearer ${api.owner.key}`, `Content-Length: ${body.length}`], body)
  expect(answers[0]).toMatch(/^HTTP\/1\.1 100 /)
  expect(answers.join('')).toMatch(/HTTP\/1\.1 200 [^]*"name":"expected"/)
})

it('keeps an idle connection longer than a load balancer does', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8')
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = (await once(socket, 'data')) as [string]
  expect(Number(/keep-alive: timeout=(\d+)/i.exec(answer)?.[1])).toBeGreaterThan(60)
  socket.destroy()
})
