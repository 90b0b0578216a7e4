import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newSession, openSession, sealSession } from '../../../services/http/page/session-cookie.ts'
import type { PagePorts } from '../../../services/http/page-ports.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const secret = randomBytes(32)
const tokens = new Map<string, string>()
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const page: PagePorts = {
  readFile: async (path) =>
    path === 'index.html'
      ? { bytes: bytes('<!doctype html>'), contentType: 'text/html; charset=utf-8' }
      : path === 'assets/frame-1.html'
        ? { bytes: bytes('<!doctype html>'), contentType: 'text/html; charset=utf-8' }
        : path === 'assets/page-1.js'
          ? { bytes: bytes('1'), contentType: 'text/javascript; charset=utf-8' }
          : null,
  readGuide: async (path) =>
    path === 'index.html' ? { bytes: bytes('<script id="theme">1</script>Guide'), contentType: 'text/html; charset=utf-8' } : null,
  sessionSecret: async () => secret,
  redeemSignIn: (token) => {
    const key = tokens.get(token) ?? null
    tokens.delete(token)
    return key
  },
  objectOrigins: ['https://bucket.example'],
}

let api: TestApi
beforeAll(async () => {
  api = await startApi({ page, config: { keyCacheMs: 0 } })
})
afterAll(() => api.stop())

const signIn = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  api.fetch('/session', {
    method: 'POST',
    key: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
const withCookie = (path: string, cookie: string, init: RequestInit = {}): Promise<Response> =>
  api.fetch(path, { ...init, key: null, headers: { ...(init.headers as Record<string, string>), cookie } })
const code = async (response: Response): Promise<unknown> => ((await response.json()) as { error: { code: string } }).error.code
const create = { method: 'POST', body: JSON.stringify({ name: 'a' }), headers: { 'content-type': 'application/json' } }

describe('the page', () => {
  it('is served with a policy that names its own origin and the object store only', async () => {
    const response = await api.fetch('/', { key: null })
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("connect-src 'self' https://bucket.example")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })

  it('puts its frames into a sandbox without an origin, also when they are opened directly', async () => {
    const response = await api.fetch('/assets/frame-1.html', { key: null })
    expect(response.headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts; default-src 'none'/)
    expect(response.headers.get('content-security-policy')).not.toContain('allow-same-origin')
  })

  it('lets a frame, which has no origin, load its script, and caches it for ever', async () => {
    const response = await api.fetch('/assets/page-1.js', { key: null, headers: { 'sec-fetch-site': 'cross-site' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(response.headers.get('cache-control')).toContain('immutable')
  })

  it('answers 404 for a file that the build did not make', async () => {
    expect((await api.fetch(`/assets/${encodeURIComponent('../../secret.json')}`, { key: null })).status).toBe(404)
    expect((await api.fetch('/assets/other.js', { key: null })).status).toBe(404)
  })
})

describe('POST /session', () => {
  it('signs in with an API key and hides the key in a cookie that scripts and other sites cannot use', async () => {
    const response = await signIn({ api_key: ` ${api.owner.key} ` })
    expect(response.status).toBe(200)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^cellblock_session=[\w-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/)
    expect(Buffer.from(cookieOf(response).split('=')[1] ?? '', 'base64url').toString('latin1')).not.toContain(api.owner.key)
    expect((await withCookie('/v1/models', cookieOf(response))).status).toBe(200)
    expect(await (await withCookie('/session', cookieOf(response))).json()).toMatchObject({ signed_in: true })
  })

  it('marks the cookie as secure where the page is reached by HTTPS', async () => {
    const behindProxy = await startApi({ page, config: { publicUrl: 'https://code.example', allowedHosts: ['127.0.0.1'] } })
    try {
      const response = await fetch(`${behindProxy.url}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: behindProxy.owner.key }),
      })
      expect(response.headers.get('set-cookie')).toMatch(/; Secure$/)
    } finally {
      await behindProxy.stop()
    }
  })

  it('signs in with the token of a link once', async () => {
    tokens.set('token-1', api.owner.key)
    expect((await signIn({ token: 'token-1' })).status).toBe(200)
    const again = await signIn({ token: 'token-1' })
    expect(again.status).toBe(401)
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  it('refuses keys that do not exist, foreign pages, forms and other bodies', async () => {
    expect((await signIn({ api_key: 'ck_no_such_key_0000000000' })).status).toBe(401)
    expect((await signIn({ api_key: 'ck_no\nsuch' })).status).toBe(401)
    expect((await signIn({ api_key: api.owner.key }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await signIn({ api_key: api.owner.key }, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await signIn({ user: 'x' })).status).toBe(400)
  })
})

describe('a session cookie', () => {
  let cookie: string
  beforeAll(async () => {
    cookie = cookieOf(await signIn({ api_key: api.owner.key }))
  })

  it('changes something only together with the header of the page', async () => {
    const without = await withCookie('/v1/containers', cookie, create)
    expect([without.status, await code(without)]).toEqual([403, 'origin_not_allowed'])
    const headers = { ...create.headers, 'x-cellblock-page': '1' }
    expect((await withCookie('/v1/containers', cookie, { ...create, headers })).status).toBe(200)
  })

  it('serves no request of another origin or of another port of this host', async () => {
    for (const headers of [{ origin: 'http://127.0.0.1:1' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await withCookie('/v1/models', cookie, { headers: { ...headers, 'x-cellblock-page': '1' } })).status).toBe(403)
  })

  it('opens only routes that the page calls', async () => {
    const byKeyOnly = ROUTES.filter(({ auth }) => auth !== 'public' && auth !== 'session')
    expect(new Set(byKeyOnly.map(({ tag }) => tag))).toEqual(new Set(['MCP', 'LibreChat', 'E2B', 'Plugin', 'n8n', 'Open WebUI']))
    for (const { method, path, tag } of byKeyOnly) {
      const init = { method: method.toUpperCase(), headers: { 'x-cellblock-page': '1', 'content-type': 'application/json' } }
      const { status } = await withCookie(path.replaceAll(/\{\w+\}/g, 'x'), cookie, init)
      // E2B's clients take 502 for a sandbox that does not exist.
      expect(tag === 'E2B' ? [401, 502] : [401], path).toContain(status)
    }
  })

  it('does not replace a wrong API key', async () => {
    const response = await api.fetch('/v1/models', { key: null, headers: { cookie, authorization: 'Bearer ck_wrong_key_0000000000' } })
    expect(response.status).toBe(401)
  })

  it('ends when it was changed, when it expires, and when its key is revoked', async () => {
    expect((await withCookie('/v1/models', `${cookie.slice(0, -2)}AA`)).status).toBe(401)
    expect((await withCookie('/v1/models', 'cellblock_session=AAAA')).status).toBe(401)
    const own = await api.newKey({ tenant: api.owner.tenant })
    const session = cookieOf(await signIn({ api_key: own.key }))
    expect((await withCookie('/v1/models', session)).status).toBe(200)
    await api.table.tenants.revokeKey(own.keyId, Date.now())
    expect((await withCookie('/v1/models', session)).status).toBe(401)
    expect(await (await withCookie('/session', session)).json()).toEqual({ signed_in: false })
    api.skew = 8 * 24 * 3_600_000
    try {
      expect((await withCookie('/v1/models', cookie)).status).toBe(401)
    } finally {
      api.skew = 0
    }
  })

  it('ends with DELETE /session, also a copy of it, and no other session of the same key', async () => {
    const own = await api.newKey({ tenant: api.owner.tenant })
    const [session, other] = [cookieOf(await signIn({ api_key: own.key })), cookieOf(await signIn({ api_key: own.key }))]
    expect((await withCookie('/v1/models', session)).status).toBe(200)
    const signOut = () => api.fetch('/session', { method: 'DELETE', key: null, headers: { cookie: session } })
    const response = await signOut()
    expect(response.headers.get('set-cookie')).toMatch(/^cellblock_session=; Path=\/; Max-Age=0/)
    expect((await withCookie('/v1/models', session)).status).toBe(401)
    expect(await (await withCookie('/session', session)).json()).toEqual({ signed_in: false })
    expect((await signOut()).status).toBe(200)
    expect((await withCookie('/v1/models', other)).status).toBe(200)
  })

  it('opens with the secret that sealed it only', () => {
    const sealed = sealSession(newSession('ck_x', 0), secret)
    expect(openSession(sealed, secret, 1)?.apiKey).toBe('ck_x')
    expect(openSession(sealed, randomBytes(32), 1)).toBeNull()
    expect(openSession(sealed, secret, 8 * 24 * 3_600_000)).toBeNull()
    expect(openSession('', secret, 1)).toBeNull()
  })
})

describe('the documentation', () => {
  it('is served with a policy that allows its own inline scripts only', async () => {
    const response = await fetch(`${api.url}/docs/guide/`)
    expect(await response.text()).toContain('Guide')
    expect(response.headers.get('content-security-policy')).toMatch(/script-src 'self' 'sha256-[\w+/=]{44}';/)
    expect((await fetch(`${api.url}/docs/guide`, { redirect: 'manual' })).headers.get('location')).toBe('/docs/guide/')
    expect((await fetch(`${api.url}/docs/guide/none.html`)).status).toBe(404)
    expect((await fetch(`${api.url}/docs/guide/%ff`)).status).toBe(404)
  })

  it('has addresses without an ending, and a page for people at any other address', async () => {
    const files: Readonly<Record<string, string>> = {
      'index.html': 'Start',
      'faq.html': 'Questions',
      'guides/index.html': 'Guides',
      '404.html': 'No such page',
    }
    const readGuide = async (path: string) => {
      const text = files[path]
      return text === undefined ? null : { bytes: Uint8Array.from(Buffer.from(text)), contentType: 'text/html; charset=utf-8' }
    }
    const own = await startApi({ page: { ...page, readGuide } })
    const get = async (path: string, accept = 'text/html'): Promise<readonly [number, string]> => {
      const answer = await fetch(`${own.url}/docs/guide/${path}`, { headers: { accept } })
      return [answer.status, await answer.text()]
    }
    expect(await get('faq')).toEqual([200, 'Questions'])
    expect(await get('faq.html')).toEqual([200, 'Questions'])
    expect(await get('guides')).toEqual([200, 'Guides'])
    expect(await get('none')).toEqual([404, 'No such page'])
    expect(await get('none', 'application/json')).toEqual([404, expect.stringContaining('"not_found"')])
    await own.stop()
  })

  it('shows people a page that waits for it before it is built', async () => {
    const bare = await startApi({ page: { ...page, readGuide: async () => null } })
    const response = await fetch(`${bare.url}/docs/guide/faq`, { headers: { accept: 'text/html' } })
    expect(await response.text()).toContain('<h1>The documentation is not built yet</h1>')
    expect([response.status, response.headers.get('refresh'), response.headers.get('cache-control')]).toEqual([404, '10', 'no-store'])
    await bare.stop()
  })

  it.each([
    ['on a server without it', null, 'npm start'],
    ['before it is built', async () => null, 'npm run docs:build'],
  ] as const)('says how it is built %s', async (_case, readGuide, command) => {
    const bare = await startApi({ page: { ...page, readGuide } })
    const response = await fetch(`${bare.url}/docs/guide/`)
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining(command)])
    await bare.stop()
  })
})
