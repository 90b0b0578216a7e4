import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConnection } from '../../support/raw-connection.ts'
import { PORT, startPorts, type Published, type TestPorts } from '../../support/start-ports.ts'

let ports: TestPorts
let id: string
let published: Published
let cookie: string
beforeAll(async () => {
  ports = await startPorts((_request, response) => void response.end('program'))
  id = await ports.container()
  published = await ports.publish(id)
  cookie = await ports.open(published)
})
afterAll(() => ports.stop())

const NONE = [404, 'not_published']
const answerOf = async (...given: Parameters<TestPorts['visit']>) => {
  const { status, text } = await ports.visit(...given)
  return [status, status === 200 ? text : (JSON.parse(text) as { error: { code: string } }).error.code]
}
const withCookie = (headers: Record<string, string> = {}) => ({ headers: { cookie, ...headers } })
const withToken = (token: string) => ({ headers: { 'cellblock-port-token': token } })

describe('credentials', () => {
  it('the cookie of a link opens the port, for its host alone and not for scripts', async () => {
    const { headers } = await ports.visit((await ports.publish(id)).url)
    const [set = ''] = headers['set-cookie'] ?? []
    expect(set).toMatch(/^cellblock_port=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    expect(await answerOf(published.origin, withCookie())).toEqual([200, 'program'])
  })

  it('a frame gets a cookie of its partition', async () => {
    const { headers } = await ports.visit((await ports.publish(id)).url, { headers: { 'sec-fetch-dest': 'iframe' } })
    expect(headers['set-cookie']?.[0]).toMatch(/^cellblock_port_frame=.*HttpOnly; SameSite=None; Secure; Partitioned$/)
  })

  it('a link works once, leads to the address without it, and never to another host', async () => {
    const { url } = await ports.publish(id)
    const deep = url.replace('/?', '//evil.example/a?b=1&')
    const first = await ports.visit(deep)
    expect([first.status, first.headers.location]).toEqual([303, `${published.origin}//evil.example/a?b=1`])
    expect(await answerOf(url)).toEqual([404, 'link_used'])
  })

  it('a link of one port opens no other one', async () => {
    const other = await ports.publish(id, PORT + 1)
    const { url } = await ports.publish(id)
    expect(await answerOf(url.replace(published.origin, other.origin))).toEqual([404, 'link_used'])
    expect((await ports.visit(url)).status).toBe(303)
  })

  it('a program sends the token', async () => {
    expect(await answerOf(published.origin, withToken(published.token))).toEqual([200, 'program'])
    expect(await answerOf(published.origin, withToken('x'))).toEqual(NONE)
    // The credential of a browser is none of a program.
    expect(await answerOf(published.origin, withToken(cookie.split('=')[1] ?? ''))).toEqual(NONE)
    expect(await answerOf(published.origin, { headers: { cookie: `cellblock_port=${published.token}` } })).toEqual(NONE)
  })

  it('an added cookie of the same name does not close the port', async () => {
    expect(await answerOf(published.origin, { headers: { cookie: `cellblock_port=other; ${cookie}` } })).toEqual([200, 'program'])
  })

  it('an API key opens no port', async () => {
    expect(await answerOf(published.origin, { headers: { authorization: `Bearer ${ports.api.owner.key}` } })).toEqual(NONE)
  })
})

describe('without a credential', () => {
  it('a published port, one that is not, and a container that does not exist are answered alike', async () => {
    const answers = [
      await ports.visit(published.origin),
      await ports.visit(published.origin.replace(`${PORT}-`, '9999-')),
      await ports.visit(published.origin.replace(/-0/, '-7')),
    ].map(({ status, text, headers }) => ({ status, text, headers: { ...headers, date: '' } }))
    expect(answers[0]?.status).toBe(404)
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
  })

  it('a port ends with its publication, its container and its time', async () => {
    const own = await ports.container()
    const one = await ports.publish(own)
    expect(await answerOf(one.origin, withToken(one.token))).toEqual([200, 'program'])
    await ports.api.fetch(`/v1/containers/${own}/ports/${PORT}`, { method: 'DELETE' })
    expect(await answerOf(one.origin, withToken(one.token))).toEqual(NONE)
    // Another publication has another token.
    const two = await ports.publish(own)
    expect(await answerOf(two.origin, withToken(one.token))).toEqual(NONE)
    expect(await answerOf(two.origin, withToken(two.token))).toEqual([200, 'program'])
    await ports.api.fetch(`/v1/containers/${own}`, { method: 'DELETE' })
    expect(await answerOf(two.origin, withToken(two.token))).toEqual(NONE)
    const three = await ports.publish(id, PORT)
    ports.api.skew = 25 * 3_600_000
    try {
      expect(await answerOf(three.origin, withToken(three.token))).toEqual(NONE)
    } finally {
      ports.api.skew = 0
    }
    ;[published] = [await ports.publish(id)]
    cookie = await ports.open(published)
  })
})

describe('another tenant', () => {
  it("reaches no port of the first one with its own cookie, token or link, by the first one's host", async () => {
    const { otherTenant } = ports.api
    const theirs = await ports.container(otherTenant)
    const own = await ports.publish(theirs, PORT, otherTenant)
    const ownCookie = await ports.open(own)
    expect(await answerOf(own.origin, { headers: { cookie: ownCookie } })).toEqual([200, 'program'])
    expect(await answerOf(published.origin, { headers: { cookie: ownCookie } })).toEqual(NONE)
    expect(await answerOf(published.origin, withToken(own.token))).toEqual(NONE)
    const link = (await ports.publish(theirs, PORT, otherTenant)).url.split('?')[1]
    expect(await answerOf(`${published.origin}/?${link}`)).toEqual([404, 'link_used'])
    // Half of one name and half of the other.
    const [a = '', b = ''] = [published.origin, own.origin].map((origin) => /-([0-9a-z]+)\./.exec(origin)?.[1] ?? '')
    for (const label of [a.slice(0, 26) + b.slice(26), b.slice(0, 26) + a.slice(26)])
      for (const token of [own.token, published.token])
        expect(await answerOf(published.origin.replace(a, label), withToken(token))).toEqual(NONE)
  })
})

describe('the Host header', () => {
  const hostOf = () => new URL(published.origin).host

  it('decides alone: another one in the request line, or a second one, is refused', async () => {
    const token = `cellblock-port-token: ${published.token}\r\n`
    for (const head of [
      `GET http://localhost/ HTTP/1.1\r\nhost: ${hostOf()}\r\n${token}\r\n`,
      `GET / HTTP/1.1\r\nhost: ${hostOf()}\r\nhost: localhost\r\n${token}\r\n`,
    ]) {
      const connection = await openConnection(ports.api.url)
      connection.socket.write(head)
      expect(await connection.status()).toBe(400)
      connection.socket.destroy()
    }
  })

  it.each([
    ['a longer name', (host: string) => host.replace('.localhost', '.localhost.evil.example')],
    ['a name in front', (host: string) => `evil.${host}`],
    ['another domain', (host: string) => host.replace('.localhost', '.evil.example')],
    ['a zero in front of the port', (host: string) => `0${host}`],
    ['a port that is none', (host: string) => host.replace(`${PORT}-`, '99999-')],
    ['a dot at the end', (host: string) => host.replace('.localhost', '.localhost.')],
    ['an address with the name as a user', (host: string) => `${host.split(':')[0]}@127.0.0.1`],
  ])('reaches nothing as %s', async (_, change) => {
    const { status, text } = await ports.visit(published.origin, {
      headers: { host: change(hostOf()), ...withToken(published.token).headers },
    })
    expect([400, 404, 421]).toContain(status)
    expect(text).not.toContain('program')
  })

  it('has any case', async () => {
    const headers = { host: hostOf().toUpperCase(), ...withToken(published.token).headers }
    expect((await ports.visit(published.origin, { headers })).text).toBe('program')
  })

  it('a forwarded host names no port', async () => {
    const headers = {
      host: `localhost:${new URL(ports.api.url).port}`,
      'x-forwarded-host': hostOf(),
      ...withToken(published.token).headers,
    }
    expect((await ports.visit(published.origin, { headers })).text).not.toBe('program')
  })

  it('of a port reaches nothing of the API', async () => {
    const headers = { authorization: `Bearer ${ports.api.owner.key}` }
    for (const path of ['/v1/models', '/healthz', '/metrics', '/session'])
      expect(await answerOf(`${published.origin}${path}`, { headers })).toEqual(NONE)
  })
})

describe('a page of another origin', () => {
  const own = () => published.origin

  it.each<[string, () => Record<string, string>, string?]>([
    ['another site', () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })],
    ['a port of another sandbox', () => ({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' })],
    ['a form elsewhere', () => ({ origin: 'http://evil.example', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }), 'POST'],
    ['an origin without a name', () => ({ origin: 'null' }), 'POST'],
    ['the same host on another port', () => ({ origin: own().replace(/:\d+$/, ':1') }), 'POST'],
  ])('sends nothing with the cookie: %s', async (_, headers, method = 'GET') => {
    expect(await answerOf(own(), { ...withCookie(headers()), method })).toEqual([403, 'foreign_origin'])
  })

  it('may lead a person to the port, and pages of the port may do everything', async () => {
    const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect(await answerOf(own(), withCookie(navigation))).toEqual([200, 'program'])
    expect(await answerOf(own(), { ...withCookie({ origin: own(), 'sec-fetch-site': 'same-origin' }), method: 'POST' })).toEqual([
      200,
      'program',
    ])
  })

  it('only the page of the server may frame a port', async () => {
    const { headers } = await ports.visit(own(), withCookie())
    expect(headers['content-security-policy']).toMatch(/^frame-ancestors 'self' http:\/\/localhost:\* http:\/\/127\.0\.0\.1:\*$/)
  })
})

describe('a port that does not answer', () => {
  it('says that nothing listens, as a page to browsers and as JSON to programs', async () => {
    const silent = await ports.publish(id, PORT + 1)
    const headers = withToken(silent.token).headers
    const page = await ports.visit(silent.origin, { headers: { ...headers, accept: 'text/html,*/*' } })
    expect([page.status, page.headers['content-type']]).toEqual([502, 'text/html; charset=utf-8'])
    expect(page.text).toContain(`Nothing listens on port ${PORT + 1} of this sandbox.`)
    expect(await answerOf(silent.origin, { headers })).toEqual([502, 'nothing_listens'])
  })

  it('says that the container hibernates', async () => {
    const { tenant } = ports.api.owner
    const own = await ports.container()
    const one = await ports.publish(own)
    await ports.api.table.containers.setSandbox(tenant, own, { generation: 1, sandboxId: null, stateLost: null, dueAt: null })
    expect(await answerOf(one.origin, withToken(one.token))).toEqual([503, 'sandbox_hibernated'])
  })
})
