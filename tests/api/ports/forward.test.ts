import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { openConnection } from '../../support/raw-connection.ts'
import { PORT, startPorts, type Published, type TestPorts } from '../../support/start-ports.ts'
import { within } from '../../support/within.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
}

let ports: TestPorts
let published: Published
let cookie: string
let seen: Seen[] = []
const BIG = 50 * 1024 * 1024

beforeAll(async () => {
  ports = await startPorts((request, response) => {
    const parts: Buffer[] = []
    if (request.url === '/early') return void response.writeHead(413).end('too large')
    if (request.url === '/silent') return
    if (request.url === '/broken') return void request.socket.end('no HTTP\r\n\r\n')
    if (request.url === '/cut') return void response.writeHead(200, { 'content-length': 10 }).write('half', () => request.socket.destroy())
    if (request.url === '/big') return void response.end(Buffer.alloc(BIG, 'x'))
    if (request.url === '/two-lengths')
      return void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde')
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts)
      const { method, url, headers, rawHeaders } = request
      seen.push({ method, url, headers, rawHeaders, body: body.toString() })
      if (request.url === '/hash') return void response.end(createHash('sha256').update(body).digest('hex'))
      if (request.url === '/headers')
        response.writeHead(200, [
          ...['set-cookie', 'app=1; Domain=localhost; Path=/; HttpOnly', 'set-cookie', 'b=2;domain=.localhost'],
          ...[
            'set-cookie',
            'cellblock_session=x',
            'set-cookie',
            '__Host-cellblock_port=x; Secure; Path=/',
            'set-cookie',
            '=cellblock_port=x',
          ],
          ...['alt-svc', 'h3=":443"', 'clear-site-data', '"*"', 'strict-transport-security', 'max-age=9', 'x-own', 'kept'],
          ...['content-security-policy', "default-src 'self'"],
        ])
      const to = /^\/to\/(.*)$/.exec(request.url ?? '')?.[1]
      if (to !== undefined) response.writeHead(302, { location: decodeURIComponent(to) })
      response.end('program')
    })
  })
  new WebSocketServer({ server: ports.program }).on('connection', (peer, { headers, url }) => {
    peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }))
    peer.send(JSON.stringify({ headers, url }))
  })
  published = await ports.publish(await ports.container())
  cookie = await ports.open(published)
})
afterAll(() => ports.stop())

const visit = (path: string, headers: Record<string, string> = {}, rest: { method?: string; body?: string } = {}) =>
  ports.visit(`${published.origin}${path}`, { headers: { cookie, ...headers }, ...rest })
async function request(path: string, headers: Record<string, string> = {}, rest: { method?: string; body?: string } = {}): Promise<Seen> {
  seen = []
  expect((await visit(path, headers, rest)).status).toBe(200)
  expect(seen).toHaveLength(1)
  return seen[0] as Seen
}

describe('what the program gets', () => {
  it('method, path and body are as the visitor sent them', async () => {
    const got = await request('/a%2Fb//c?x=%20&x=2', { 'content-type': 'text/plain' }, { method: 'PATCH', body: 'text' })
    expect(got).toMatchObject({ method: 'PATCH', url: '/a%2Fb//c?x=%20&x=2', body: 'text' })
  })

  it('no credential of the server', async () => {
    const text = JSON.stringify((await request('/', { cookie: `app=1; ${cookie}; other=2`, 'x-api-key': ports.api.owner.key })).headers)
    expect(text).not.toMatch(/cellblock_|ck_/)
    expect(text).toContain('app=1; other=2')
    const { headers: own } = await request('/', { authorization: 'Basic abc', 'e2b-traffic-access-token': 'x', 'x-access-token': 'x' })
    expect(own).toMatchObject({ authorization: 'Basic abc' })
    expect(own).not.toHaveProperty('e2b-traffic-access-token')
    expect(own).not.toHaveProperty('x-access-token')
    expect(own).not.toHaveProperty('cookie')
  })

  it('the name localhost, the address of the visitor as forwarded, and nothing of what a visitor says about it', async () => {
    const { host } = new URL(published.origin)
    const { headers, rawHeaders } = await request('/', {
      ...{ origin: published.origin, referer: `${published.origin}/a`, forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4' },
      ...{ 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/x' },
    })
    expect(headers).toMatchObject({
      ...{ host: `localhost:${PORT}`, origin: `http://localhost:${PORT}`, referer: `http://localhost:${PORT}/a` },
      ...{ 'x-forwarded-host': host, 'x-forwarded-proto': 'http' },
    })
    // Programs that read the head themselves look for this form.
    expect(rawHeaders).toContain('Host')
    for (const name of ['forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-prefix']) expect(headers).not.toHaveProperty(name)
  })

  it('no headers of one connection, and none that a visitor names as such', async () => {
    const { headers } = await request('/', {
      connection: 'close, x-secret',
      'x-secret': '1',
      te: 'trailers',
      'proxy-authorization': 'x',
      upgrade: 'h2c',
    })
    for (const name of ['x-secret', 'te', 'proxy-authorization', 'upgrade']) expect(headers).not.toHaveProperty(name)
  })
})

describe('what the visitor gets', () => {
  it("cookies of the port's host alone, and none of the server's names", async () => {
    const { headers } = await visit('/headers')
    expect(headers['set-cookie']).toEqual(['app=1; Path=/; HttpOnly', 'b=2'])
  })

  it('no header that speaks for other origins, and both policies', async () => {
    const { headers } = await visit('/headers')
    for (const name of ['alt-svc', 'clear-site-data', 'strict-transport-security']) expect(headers).not.toHaveProperty(name)
    expect(headers['x-own']).toBe('kept')
    expect(headers['content-security-policy']).toMatch(/^default-src 'self', frame-ancestors 'self' /)
  })

  it.each([
    [`http://localhost:${PORT}/next`, '/next'],
    [`http://127.0.0.1:${PORT}`, ''],
    [`http://0.0.0.0:${PORT}?a`, '?a'],
  ])('the address of the port in a redirect to %s', async (to, path) => {
    expect((await visit(`/to/${encodeURIComponent(to)}`)).headers.location).toBe(`${published.origin}${path}`)
  })

  it.each(['/relative', 'http://localhost:1/', 'https://example.com/', `http://localhost:${PORT}.evil.example/`])(
    'other redirects as they are: %s',
    async (to) => expect((await visit(`/to/${encodeURIComponent(to)}`)).headers.location).toBe(to),
  )
})

describe('bytes', () => {
  it('50 MB arrive both ways', async () => {
    const body = 'y'.repeat(BIG)
    expect((await visit('/hash', {}, { method: 'POST', body })).text).toBe(createHash('sha256').update(body).digest('hex'))
    expect((await visit('/big')).text).toHaveLength(BIG)
  })

  it('an answer before the end of the body arrives, and the connection ends with it', async () => {
    const connection = await openConnection(published.origin.replace(/\/\/.*:/, '//127.0.0.1:'))
    const { host } = new URL(published.origin)
    connection.socket.write(`POST /early HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\ncontent-length: 1000\r\n\r\nhalf`)
    expect(await connection.status()).toBe(413)
    await expect.poll(connection.isClosed).toBe(true)
  })

  it('a request is never part of another one', async () => {
    const { host } = new URL(published.origin)
    const head = `host: ${host}\r\ncookie: ${cookie}\r\n`
    const attempts = [
      `POST / HTTP/1.1\r\n${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n${head}\r\n`,
      `POST / HTTP/1.1\r\n${head}transfer-encoding: x-chunked\r\n\r\nGET /smuggled HTTP/1.1\r\n${head}\r\n`,
      `POST / HTTP/1.1\r\n${head}content-length: 3\r\ncontent-length: 50\r\n\r\nabcGET /smuggled HTTP/1.1\r\n${head}\r\n`,
      `GET / HTTP/1.1\r\n${head}x: a\nGET /smuggled HTTP/1.1\r\n\r\n`,
    ]
    for (const attempt of attempts) {
      seen = []
      const connection = await openConnection(ports.api.url)
      connection.socket.write(attempt)
      expect(await connection.status()).toBe(400)
      connection.socket.destroy()
      expect(seen).toEqual([])
    }
  })

  it.each(['/broken', '/two-lengths'])('a program that does not speak HTTP is named as such: %s', async (path) => {
    expect(await visit(path)).toMatchObject({ status: 502, text: expect.stringContaining('no_answer') })
  })

  it('an answer that ends too early is no complete one', async () => {
    await expect(visit('/cut')).rejects.toThrow()
  })
})

describe('WebSockets', () => {
  const connect = (headers: Record<string, string>, path = '/ws?a=1') => {
    const { host, port } = new URL(published.origin)
    return new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { host, ...headers } })
  }
  const next = (socket: WebSocket): Promise<string> =>
    new Promise((resolve, reject) => socket.once('message', (data: Buffer) => resolve(data.toString())).once('error', reject))

  it('carry messages both ways, with the headers of a request', async () => {
    const socket = connect({ cookie, origin: published.origin })
    const hello = JSON.parse(await next(socket)) as Seen
    expect(hello.url).toBe('/ws?a=1')
    expect(hello.headers).toMatchObject({ host: `localhost:${PORT}`, origin: `http://localhost:${PORT}` })
    expect(JSON.stringify(hello.headers)).not.toContain('cellblock')
    for (const text of ['one', 'x'.repeat(1_000_000)]) {
      socket.send(text)
      expect(await next(socket)).toBe(text)
    }
    socket.close()
  })

  it.each<[string, () => Record<string, string>, number]>([
    ['no credential', () => ({}), 404],
    ['the cookie, from a page of another origin', () => ({ cookie, origin: 'http://evil.example' }), 403],
  ])('are refused with %s', async (_, headers, status) => {
    const socket = connect(headers())
    const answer = await new Promise((resolve) => socket.once('unexpected-response', (_request, response) => resolve(response.statusCode)))
    expect(answer).toBe(status)
  })

  it('end with the publication', async () => {
    const id = await ports.container()
    const own = await ports.publish(id)
    const { host, port } = new URL(own.origin)
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host, 'cellblock-port-token': own.token } })
    await next(socket)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await ports.api.fetch(`/v1/containers/${id}/ports/${PORT}`, { method: 'DELETE' })
    await within(20_000, 'The end of the connection', closed)
  })
})

describe('bounds', () => {
  it('a connection on which no byte moves ends, and one that moves does not', async () => {
    await using made = new AsyncDisposableStack()
    const slow = await startPorts(
      (request, response) => {
        if (request.url === '/silent') return
        let sent = 0
        const timer = setInterval(() => (++sent < 20 ? response.write('x') : (clearInterval(timer), response.end())), 250)
      },
      { portIdleMs: 1_000 },
    )
    made.defer(() => slow.stop())
    const own = await slow.publish(await slow.container())
    const get = (path: string) => slow.visit(`${own.origin}${path}`, { headers: { 'cellblock-port-token': own.token } })
    const [silent, moving] = await within(20_000, 'The end of the silent connection', Promise.all([get('/silent'), get('/')]))
    expect([silent.status, silent.text]).toEqual([504, expect.stringContaining('silent for 1 seconds')])
    expect([moving.status, moving.text]).toEqual([200, 'x'.repeat(19)])
  })

  it('an account has a number of open connections, and another account its own', async () => {
    const { api } = ports
    const key = await api.newKey()
    await api.table.tenants.create({ v: 1, id: key.tenant, name: 'x', createdAt: api.now(), policy: { limits: { portConnections: 2 } } })
    const own = await ports.publish(await ports.container(key), PORT, key)
    const { host } = new URL(own.origin)
    const open = await Promise.all([1, 2].map(() => openConnection(api.url)))
    for (const { socket } of open) socket.write(`GET /silent HTTP/1.1\r\nhost: ${host}\r\ncellblock-port-token: ${own.token}\r\n\r\n`)
    const again = () => ports.visit(own.origin, { headers: { 'cellblock-port-token': own.token } })
    await expect.poll(async () => (await again()).status).toBe(429)
    expect((await again()).text).toContain('port_connections')
    expect((await visit('/')).status).toBe(200)
    for (const { socket } of open) socket.destroy()
    await expect.poll(async () => (await again()).status).toBe(200)
  })

  it('an account gets a number of requests per second, those of the API included', async () => {
    const { api } = ports
    const key = await api.newKey()
    await api.table.tenants.create({ v: 1, id: key.tenant, name: 'x', createdAt: api.now(), policy: { limits: { requestsPerSecond: 8 } } })
    const own = await ports.publish(await ports.container(key), PORT, key)
    const statuses: number[] = []
    for (let n = 0; n < 40; n++) statuses.push((await ports.visit(own.origin, { headers: { 'cellblock-port-token': own.token } })).status)
    expect(statuses).toContain(429)
    expect((await visit('/')).status).toBe(200)
  })
})
