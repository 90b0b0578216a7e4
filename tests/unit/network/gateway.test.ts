import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMirror, startPlainMirror, type Mirror } from '../../support/mirror.ts'
import { ATTACHMENT, parseAnswer, readAll, startProxy, type TestProxy } from '../../support/start-proxy.ts'

const API = 'api.example.com'
const OTHER = 'other.example.com'
const VALUE = 'sk-live-"0123456789&abcdef'
const PLACEHOLDER = 'cellblock-secret-KEY-1a2b3c'
const SECRET = { name: 'KEY', placeholder: PLACEHOLDER, hosts: [API], value: VALUE }

let mirror: Mirror
let plain: Mirror
let proxy: TestProxy
/** Every request that reached the internet. */
const seen: { readonly line: string; readonly headers: Readonly<Record<string, unknown>> }[] = []

beforeAll(async () => {
  mirror = await startMirror([API, OTHER], (request, response) => {
    const parts: Buffer[] = []
    seen.push({ line: `${request.method} ${request.headers.host}${request.url}`, headers: request.headers })
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      if (request.url === '/redirect') response.statusCode = 302
      if (request.url === '/redirect')
        response.setHeaders(new Headers({ location: `https://${OTHER}/?key=${request.headers.authorization}` }))
      if (request.url === '/gzip') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('compressed'))
        return
      }
      response.setHeader('x-echo', String(request.headers['x-key'] ?? ''))
      response.end(
        request.url === '/big' ? 'x'.repeat(100_000) : JSON.stringify({ body: Buffer.concat(parts).toString(), headers: request.headers }),
      )
    })
  })
  plain = await startPlainMirror((request, response) => response.end(`plain ${request.headers.host}${request.url}`))
})
afterAll(() => Promise.all([mirror[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]))

const hosts = () => ({ [API]: { address: '127.0.0.1', port: mirror.port }, [OTHER]: { address: '127.0.0.1', port: mirror.port } })
const open = async (attachment: Parameters<typeof startProxy>[0], upstream?: Parameters<typeof startProxy>[1]): Promise<TestProxy> =>
  (proxy = await startProxy({ rules: [{ host: API }], ...attachment }, { privateHosts: hosts(), ...upstream }))
const closing = async (run: () => Promise<void>): Promise<void> => {
  seen.length = 0
  try {
    await run()
  } finally {
    await proxy[Symbol.asyncDispose]()
  }
}

describe('allowed requests', () => {
  it('reach the host with their method, path, query, headers and body, and are reported', () =>
    closing(async () => {
      await open({})
      const answer = await proxy.fetch(API, {
        line: 'POST /a/b?c=%2F&d HTTP/1.1',
        headers: [`Host: ${API}`, 'X-Two: 1', 'X-Two: 2', 'Content-Length: 5'],
        body: 'hello',
      })
      expect(answer).toMatchObject({ status: 200 })
      expect(seen[0]?.line).toBe(`POST ${API}/a/b?c=%2F&d`)
      expect(JSON.parse(answer.body)).toMatchObject({ body: 'hello', headers: { 'x-two': '1, 2' } })
      await expect.poll(() => proxy.reports).toHaveLength(1)
      expect(proxy.reports[0]).toMatchObject({
        host: API,
        method: 'POST',
        path: '/a/b',
        status: 200,
        decision: 'allowed',
        reason: null,
        secret: null,
      })
      expect(proxy.reports[0]?.bytesUp).toBeGreaterThan(5)
      expect(proxy.reports[0]?.bytesDown).toBeGreaterThan(answer.body.length)
    }))

  it('may be many on one connection, also with a body in chunks', () =>
    closing(async () => {
      await open({})
      const secure = await proxy.tunnel(`${API}:443`)
      secure.write(
        `POST /1 HTTP/1.1\r\nHost: ${API}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: ${API}\r\nConnection: close\r\n\r\n`,
      )
      expect((await readAll(secure)).match(/HTTP\/1.1 200/g)).toHaveLength(2)
      expect(seen.map(({ line }) => line)).toEqual([`POST ${API}/1`, `GET ${API}/2`])
    }))

  it('may go over plain HTTP in the form that proxies get, and in a tunnel to port 80', () =>
    closing(async () => {
      await open({}, { privateHosts: { [API]: { address: '127.0.0.1', port: plain.port } } })
      const socket = await proxy.open()
      socket.write(`GET http://${API}/p?q HTTP/1.1\r\nHost: ${API}\r\nConnection: close\r\n\r\n`)
      expect(parseAnswer(await readAll(socket)).body).toBe(`plain ${API}/p?q`)
      const tunnel = await proxy.open()
      tunnel.write(`CONNECT ${API}:80 HTTP/1.1\r\nHost: ${API}:80\r\n\r\nGET /t HTTP/1.1\r\nHost: ${API}\r\nConnection: close\r\n\r\n`)
      expect(await readAll(tunnel)).toContain(`plain ${API}/t`)
    }))
})

describe('refused requests', () => {
  it('get one sentence at once, for CONNECT too, and nothing leaves', () =>
    closing(async () => {
      await open({ rules: [{ host: API, methods: ['GET'], paths: ['/simple/**'] }] })
      const before = mirror.connections()
      await expect(proxy.tunnel(`${OTHER}:443`)).rejects.toThrow(
        `HTTP/1.1 403 This container may not reach ${OTHER}. It may reach: ${API}.`,
      )
      const method = await proxy.fetch(API, { line: 'POST /simple/x HTTP/1.1', headers: [`Host: ${API}`, 'Content-Length: 0'] })
      expect([method.status, method.phrase]).toEqual([403, `This method is not allowed for ${API}. Allowed: GET.`])
      const path = await proxy.fetch(API, { line: 'GET /upload HTTP/1.1' })
      expect([path.status, path.body]).toEqual([403, `This path is not allowed for ${API}. Allowed: /simple/**.\n`])
      expect(mirror.connections()).toBe(before)
      await expect.poll(() => proxy.reports).toHaveLength(3)
      expect(proxy.reports.map(({ decision, method: name, status }) => [decision, name, status])).toEqual([
        ['refused', 'CONNECT', 403],
        ['refused', 'POST', 403],
        ['refused', 'GET', 403],
      ])
    }))

  it.each([
    '127.0.0.1:443',
    '[::1]:443',
    'localhost:443',
    '169.254.169.254:80',
    '2130706433:443',
    '0x7f.1:443',
    `${API}:25`,
    `${API}:22`,
    `${API}:8443`,
  ])('are those to %s', (authority) =>
    closing(async () => {
      await open({ rules: [{ host: '*' }] })
      await expect(proxy.tunnel(authority)).rejects.toThrow(/HTTP\/1\.1 (403|400) /)
    }),
  )

  it.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', '100.64.0.1', '::1', '::ffff:127.0.0.1', 'fd00::1', 'fe80::1'])(
    'are those to a name with the address %s, even beside a public one',
    (address) =>
      closing(async () => {
        let asked = 0
        const addresses = [address, '93.184.215.14'].map((one) => ({ address: one, family: one.includes(':') ? 6 : 4 }))
        await open(
          { rules: [{ host: 'inward.example.com' }] },
          {
            resolve: (_name, _options, callback) => {
              asked += 1
              callback(null, addresses)
            },
          },
        )
        const answer = await proxy.fetch('inward.example.com')
        expect(answer).toMatchObject({
          status: 403,
          phrase: expect.stringContaining('The address of inward.example.com is not public') as string,
        })
        expect(asked).toBe(1)
      }),
  )

  it('are those in a TLS connection for another host than the one of the tunnel, or for none', () =>
    closing(async () => {
      await open({ rules: [{ host: API }, { host: OTHER }] })
      for (const sni of [OTHER, '']) {
        const answer = proxy.tunnel(`${API}:443`, sni).then(async (secure) => {
          secure.write(`GET / HTTP/1.1\r\nHost: ${API}\r\nConnection: close\r\n\r\n`)
          return readAll(secure)
        })
        expect(await answer.catch(() => '')).toBe('')
      }
      expect(seen).toEqual([])
    }))

  it.each([
    ['another Host', [`Host: ${OTHER}`]],
    ['two Hosts', [`Host: ${API}`, `Host: ${OTHER}`]],
    ['another port', [`Host: ${API}:8443`]],
  ])('are those with %s in their head', (_name, headers) =>
    closing(async () => {
      await open({ rules: [{ host: API }, { host: OTHER }] })
      const answer = await proxy.fetch(API, { headers })
      expect([answer.status === 403 || answer.status === 400, seen]).toEqual([true, []])
    }),
  )

  it('are those that follow an allowed one on the same connection', () =>
    closing(async () => {
      await open({ rules: [{ host: API, methods: ['GET'] }] })
      const secure = await proxy.tunnel(`${API}:443`)
      const second = `POST /write HTTP/1.1\r\nHost: ${API}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
      secure.write(`GET /read HTTP/1.1\r\nHost: ${API}\r\n\r\n${second}`)
      expect((await readAll(secure)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403'])
      expect(seen.map(({ line }) => line)).toEqual([`GET ${API}/read`])
    }))

  it.each(['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'])('cannot be hidden in the header %s', (name) =>
    closing(async () => {
      await open({ rules: [{ host: API, methods: ['GET'] }] })
      await proxy.fetch(API, { headers: [`Host: ${API}`, `${name}: DELETE`] })
      expect(seen[0]?.headers).not.toHaveProperty(name.toLowerCase())
    }),
  )

  it('ends at once when the policy no longer allows the host', () =>
    closing(async () => {
      await open({})
      const secure = await proxy.tunnel(`${API}:443`)
      secure.write(`POST /1 HTTP/1.1\r\nHost: ${API}\r\nContent-Length: 1000\r\n\r\nbegin`)
      await expect.poll(() => seen).toHaveLength(1)
      const answer = readAll(secure)
      proxy.proxy.replace({ ...ATTACHMENT, rules: [] })
      await expect.poll(() => proxy.reports).toMatchObject([{ status: 403 }])
      expect(parseAnswer(await answer)).toMatchObject({ status: 403, phrase: expect.stringContaining('may not reach') as string })
    }))
})

describe('secrets', () => {
  const withSecret = { secrets: [SECRET] }

  it('replace placeholders in headers, and in Basic authentication, for their host alone', () =>
    closing(async () => {
      await open({ ...withSecret, rules: [{ host: API }, { host: OTHER }] })
      await proxy.fetch(API, { headers: [`Host: ${API}`, `Authorization: Bearer ${PLACEHOLDER}`] })
      expect(seen[0]?.headers['authorization']).toBe(`Bearer ${VALUE}`)
      const basic = Buffer.from(`user:${PLACEHOLDER}`).toString('base64')
      await proxy.fetch(API, { headers: [`Host: ${API}`, `Authorization: Basic ${basic}`] })
      expect(Buffer.from(String(seen[1]?.headers['authorization']).slice(6), 'base64').toString()).toBe(`user:${VALUE}`)
      await proxy.fetch(OTHER, { headers: [`Host: ${OTHER}`, `Authorization: Bearer ${PLACEHOLDER}`] })
      expect(seen[2]?.headers['authorization']).toBe(`Bearer ${PLACEHOLDER}`)
      await expect.poll(() => proxy.reports.map(({ secret }) => secret)).toEqual(['KEY', 'KEY', null])
    }))

  it('stay placeholders in a body and in a path', () =>
    closing(async () => {
      await open(withSecret)
      const answer = await proxy.fetch(API, {
        line: `POST /${PLACEHOLDER} HTTP/1.1`,
        headers: [`Host: ${API}`, `Content-Length: ${PLACEHOLDER.length}`],
        body: PLACEHOLDER,
      })
      expect(seen[0]?.line).toContain(PLACEHOLDER)
      expect(JSON.parse(answer.body)).toMatchObject({ body: PLACEHOLDER })
    }))

  it('are added by a rule with a text before them, in place of what the client sent', () =>
    closing(async () => {
      await open({ ...withSecret, rules: [{ host: API, inject: [{ header: 'authorization', secret: 'KEY', prefix: 'Bearer ' }] }] })
      await proxy.fetch(API, { headers: [`Host: ${API}`, 'Authorization: mine'] })
      expect(seen[0]?.headers['authorization']).toBe(`Bearer ${VALUE}`)
    }))

  it('never come back: not in a body, a header, a redirect, or in another form', () =>
    closing(async () => {
      await open(withSecret)
      const echoed = await proxy.fetch(API, { headers: [`Host: ${API}`, `X-Key: ${PLACEHOLDER}`] })
      const redirect = await proxy.fetch(API, {
        line: 'GET /redirect HTTP/1.1',
        headers: [`Host: ${API}`, `Authorization: ${PLACEHOLDER}`],
      })
      const basic = Buffer.from(`u:${PLACEHOLDER}`).toString('base64')
      const encoded = await proxy.fetch(API, { headers: [`Host: ${API}`, `Authorization: Basic ${basic}`] })
      for (const { body, headers } of [echoed, redirect, encoded])
        for (const form of [
          VALUE,
          JSON.stringify(VALUE).slice(1, -1),
          encodeURIComponent(VALUE),
          Buffer.from(`u:${VALUE}`).toString('base64'),
        ])
          expect(`${body}${JSON.stringify(headers)}`).not.toContain(form)
      expect(echoed.headers['x-echo']).toBe('*'.repeat(VALUE.length))
      expect(redirect.status).toBe(302)
    }))

  it('are not split by ranges or hidden by compression', () =>
    closing(async () => {
      await open(withSecret)
      await proxy.fetch(API, { headers: [`Host: ${API}`, 'Range: bytes=0-3', 'Accept-Encoding: gzip'] })
      expect(seen[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' })
      expect(seen[0]?.headers).not.toHaveProperty('range')
      expect(await proxy.fetch(API, { line: 'GET /gzip HTTP/1.1' })).toMatchObject({
        status: 502,
        body: expect.stringContaining('compressed') as string,
      })
    }))

  it('do not travel over plain HTTP', () =>
    closing(async () => {
      await open(withSecret, { privateHosts: { [API]: { address: '127.0.0.1', port: plain.port } } })
      const socket = await proxy.open()
      socket.write(`GET http://${API}/ HTTP/1.1\r\nHost: ${API}\r\nX-Key: ${PLACEHOLDER}\r\nConnection: close\r\n\r\n`)
      expect(parseAnswer(await readAll(socket)).status).toBe(200)
      await expect.poll(() => proxy.reports.map(({ secret }) => secret)).toEqual([null])
    }))
})

describe('bounds', () => {
  it('refuses requests when the byte budget is used, and cuts an answer that is longer', () =>
    closing(async () => {
      await open({ bytesLeft: 20_000 })
      const cut = await proxy.fetch(API, { line: 'GET /big HTTP/1.1' })
      expect(cut.body.length).toBeLessThan(100_000)
      expect(await proxy.fetch(API)).toMatchObject({ status: 403, phrase: expect.stringContaining('byte budget') as string })
      await expect
        .poll(() => proxy.reports.map(({ reason }) => reason))
        .toEqual([expect.stringContaining('budget'), expect.stringContaining('budget')])
    }))

  it('refuses connections and requests beyond the limits of the tenant', () =>
    closing(async () => {
      await open({ limits: { connections: 2, requestsPerSecond: 2 } })
      const first = await proxy.open()
      const second = await proxy.open()
      const third = await proxy.open()
      // A proxy that accepts it closes it without an answer.
      third.end()
      expect(parseAnswer(await readAll(third))).toMatchObject({
        status: 503,
        phrase: expect.stringContaining('2 network connections') as string,
      })
      first.destroy()
      second.destroy()
      await expect
        .poll(async () => (await Promise.all([1, 2].map(() => proxy.fetch(API).catch(() => null)))).map((answer) => answer?.status))
        .toContain(429)
    }))
})

it('refuses a host whose certificate is not valid', () =>
  closing(async () => {
    await open({}, { extraCa: [] })
    expect(await proxy.fetch(API)).toMatchObject({
      status: 502,
      body: expect.stringContaining(`certificate of ${API} is not valid`) as string,
    })
  }))
