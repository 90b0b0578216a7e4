import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { keepAliveJson } from '../../../services/http/keep-alive-json.ts'

/** CloudFront's 120 s and the service's 20 s, scaled 1:100. */
const READ_TIMEOUT_MS = 1_200
const INTERVAL_MS = 200

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})
const listen = async (server: Server): Promise<number> => {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** An origin that sends this response, behind a proxy that answers 504 or breaks off after CloudFront's time-out without a byte. */
async function behindCloudFront(respond: () => Promise<Response>): Promise<string> {
  const origin = createServer((_, outgoing) => {
    void respond().then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      Readable.fromWeb(response.body as ReadableStream).pipe(outgoing)
    })
  })
  const port = await listen(origin)
  const proxy = createServer((_, outgoing) => {
    const upstream = request({ host: '127.0.0.1', port, timeout: READ_TIMEOUT_MS }, (incoming: IncomingMessage) => {
      outgoing.writeHead(incoming.statusCode ?? 502, incoming.headers)
      incoming.pipe(outgoing)
    })
    upstream.on('timeout', () => upstream.destroy())
    upstream.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(504).end()))
    upstream.end()
  })
  return `http://127.0.0.1:${await listen(proxy)}`
}
const after = async (milliseconds: number, response: Response): Promise<Response> => {
  await delay(milliseconds)
  return response
}
const keepAlive = (answer: Promise<Response>) => keepAliveJson(answer, { intervalMs: INTERVAL_MS, onError: () => '{"status":"queued"}' })

it('passes an answer within the interval unchanged', async () => {
  const answer = Response.json({ code: 'busy' }, { status: 429 })
  expect(await keepAlive(after(10, answer))).toBe(answer)
})

it('delivers an answer that takes twice the read time-out of CloudFront', async () => {
  const url = await behindCloudFront(() => keepAlive(after(2 * READ_TIMEOUT_MS, Response.json({ status: 'completed' }))))
  const answer = await fetch(url)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  const text = await answer.text()
  expect(text).toMatch(/^\n{3,}\{/)
  expect(JSON.parse(text)).toEqual({ status: 'completed' })
})

it('times out at CloudFront without whitespace', async () => {
  const url = await behindCloudFront(() => after(2 * READ_TIMEOUT_MS, Response.json({ status: 'completed' })))
  expect((await fetch(url)).status).toBe(504)
})

it('sends a resumable body if the answer fails after the status has been sent', async () => {
  const fail = async (): Promise<Response> => {
    await delay(2 * INTERVAL_MS)
    throw new Error('The table does not answer.')
  }
  const url = await behindCloudFront(() => keepAlive(fail()))
  expect(await (await fetch(url)).json()).toEqual({ status: 'queued' })
})

it('rejects if the answer fails within the interval', async () => {
  await expect(keepAlive(Promise.reject(new Error('No such model.')))).rejects.toThrow('No such model.')
})
