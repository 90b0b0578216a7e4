import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkLongCall } from '../../../scripts/doctor/account/long-call-check.ts'
import { checkPublicSide } from '../../../scripts/doctor/account/public-checks.ts'
import { checkStreaming } from '../../../scripts/doctor/account/streaming-check.ts'
import type { DoctorContainer } from '../../../scripts/doctor/account/service-calls.ts'
import { keepAliveJson } from '../../../services/http/keep-alive-json.ts'
import { sseFrame } from '../../../services/http/sse.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(handle: (asked: IncomingMessage, answer: ServerResponse) => void): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A distribution in front of this origin: `passOn` gets each answer of the origin and the answer to the client. */
function distribution(
  origin: string,
  passOn: (got: IncomingMessage, answer: ServerResponse) => void,
  { readTimeoutMs = 60_000, keepsCookies = true } = {},
): Promise<string> {
  return listen((asked, answer) => {
    const { cookie, ...others } = asked.headers
    const headers = keepsCookies && cookie !== undefined ? { ...others, cookie } : others
    const passed = send(new URL(asked.url ?? '/', origin), { method: asked.method, headers, timeout: readTimeoutMs }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      passOn(got, answer)
    })
    passed.on('timeout', () => passed.destroy())
    passed.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(504).end('{}')))
    asked.pipe(passed)
  })
}
const unchanged = (got: IncomingMessage, answer: ServerResponse): void => {
  got.on('error', () => answer.destroy())
  got.pipe(answer)
}
const containerAt = (url: string): DoctorContainer => ({ api: { url, key: 'ck_test' }, id: 'cntr_1', path: '/v1/containers/cntr_1' })

describe('the check Streaming', () => {
  const PROGRAM = { lines: 10, pauseMs: 150 }

  /** A service whose program prints a line, waits, and so on. */
  const service = (): Promise<string> =>
    listen((asked, answer) => {
      if (asked.url?.endsWith('/events') !== true) return void answer.writeHead(202).end(JSON.stringify({ id: 'exec_1', ended_at: null }))
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      void (async () => {
        for (let seq = 0; seq < PROGRAM.lines; seq++) {
          answer.write(sseFrame({ id: seq, event: 'stdout', data: { text: `${seq}\n` } }))
          await delay(PROGRAM.pauseMs)
        }
        answer.end(sseFrame({ id: PROGRAM.lines, event: 'done', data: {} }))
      })()
    })
  const found = async (passOn: Parameters<typeof distribution>[1]) =>
    checkStreaming(containerAt(await distribution(await service(), passOn)), PROGRAM)

  it('passes when events arrive while the code runs', async () => {
    expect(await found(unchanged)).toMatchObject({ check: 'Streaming', outcome: 'ok' })
  })

  it('fails behind a distribution that delivers the answer as one text', async () => {
    const buffer = (got: IncomingMessage, answer: ServerResponse): void => {
      const parts: Buffer[] = []
      got.on('data', (part: Buffer) => parts.push(part)).on('end', () => answer.end(Buffer.concat(parts)))
    }
    expect(await found(buffer)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('buffers answers') })
  })

  it('fails behind one that passes the first event and holds the others', async () => {
    const hold = (got: IncomingMessage, answer: ServerResponse): void => {
      const parts: Buffer[] = []
      got.once('data', (first: Buffer) => {
        answer.write(first)
        got.on('data', (part: Buffer) => parts.push(part)).on('end', () => answer.end(Buffer.concat(parts)))
      })
    }
    expect(await found(hold)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('No line arrived for') })
  })

  it('fails when the stream is closed early, cut, or refused', async () => {
    const close = (got: IncomingMessage, answer: ServerResponse): void => void got.once('data', (first: Buffer) => answer.end(first))
    expect(await found(close)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('closes open streams') })
    const cut = (got: IncomingMessage, answer: ServerResponse): void =>
      void got.once('data', (first: Buffer) => answer.write(first, () => answer.destroy()))
    expect(await found(cut)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('broke off') })
    const refusing = await listen((asked, answer) =>
      answer.writeHead(asked.url?.endsWith('/events') === true ? 502 : 202).end(JSON.stringify({ id: 'exec_1' })),
    )
    expect(await checkStreaming(containerAt(refusing), PROGRAM)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('502') })
  })
})

describe('the check Long call', () => {
  /** CloudFront's 120 s and the service's 20 s, scaled. */
  const READ_TIMEOUT_MS = 1_200
  const SECONDS = 2.4
  const input: string[] = []

  /** A service that answers a turn after this time, with whitespace or without. */
  const service = (tookMs: number, { hasWhitespace = true, status = 'completed' } = {}): Promise<string> =>
    listen((asked, answer) => {
      if (asked.url === '/v1/models') return void answer.end(JSON.stringify({ data: [{ id: 'large' }, { id: 'demo' }] }))
      asked.on('data', (part: Buffer) => void input.push(part.toString()))
      const turn = delay(tookMs).then(() => Response.json({ status }))
      void (hasWhitespace ? keepAliveJson(turn, { intervalMs: READ_TIMEOUT_MS / 4, onError: String }) : turn).then((response) => {
        answer.writeHead(response.status)
        Readable.fromWeb(response.body as ReadableStream).pipe(answer)
      })
    })
  const found = async (url: string) =>
    checkLongCall(containerAt(await distribution(url, unchanged, { readTimeoutMs: READ_TIMEOUT_MS })), { seconds: SECONDS })

  it('passes a call that takes twice the read time-out, which whitespace keeps open', async () => {
    expect(await found(await service(SECONDS * 1000 + 50))).toMatchObject({ check: 'Long call', outcome: 'ok' })
    const { model, input: text } = JSON.parse(input.join('')) as { model: string; input: string }
    expect([model, text.match(/time\.sleep\(1\.2\)/g)?.length]).toEqual(['demo', 2])
  })

  it('fails a call that the distribution ends, before or after its first byte', async () => {
    const silent = await found(await service(SECONDS * 1000, { hasWhitespace: false }))
    expect(silent).toMatchObject({ outcome: 'fail', message: expect.stringContaining('answered with 504') })
    const broken = await listen((asked, answer) => {
      if (asked.url === '/v1/models') return void answer.end(JSON.stringify({ data: [{ id: 'demo' }] }))
      answer.writeHead(200).write('\n')
    })
    expect(await found(broken)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('The connection broke') })
  })

  it('fails a turn that did not complete, and proves nothing by a turn that was short', async () => {
    expect(await found(await service(0, { status: 'failed' }))).toMatchObject({
      outcome: 'fail',
      message: expect.stringContaining('ended as failed'),
    })
    expect(await found(await service(0))).toMatchObject({ outcome: 'warn', message: expect.stringContaining('nothing is proven') })
  })
})

describe('the check Session', () => {
  let api: TestApi
  beforeAll(async () => {
    const secret = randomBytes(32)
    const noFile = async (): Promise<null> => null
    api = await startApi({
      page: { readFile: noFile, readGuide: noFile, sessionSecret: async () => secret, redeemSignIn: () => null, objectOrigins: [] },
    })
  })
  afterAll(() => api.stop())
  const found = async (keepsCookies: boolean, key = api.owner.key) => {
    const url = await distribution(api.url, unchanged, { keepsCookies })
    return (await checkPublicSide({ url, key }, { uploadService: true })).find(({ check }) => check === 'Session')
  }

  it('passes with the real API, and fails behind a distribution that drops cookies', async () => {
    expect(await found(true)).toMatchObject({ outcome: 'ok' })
    expect(await found(false)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('signed_in false') })
  })

  it('fails for a key that is not valid', async () => {
    expect(await found(true, 'ck_wrong')).toMatchObject({ outcome: 'fail', message: expect.stringContaining('answers 401') })
  })
})
