import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { allowedHosts: ['localhost', '127.0.0.1', '[::1]', 'code.example.org'] } })
})
afterAll(() => api.stop())

/** Unlike fetch, this sends any `Host`. */
const get = (path: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
  new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const call = request(`${api.url}${path}`, { method, headers: { authorization: `Bearer ${api.owner.key}`, ...headers } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.once('error', reject).end()
  })
const codeOf = ({ text }: { readonly text: string }): unknown =>
  text === '' ? null : ((JSON.parse(text) as { readonly error?: { readonly code?: unknown } }).error?.code ?? null)

describe('the Host header', () => {
  it.each(['/v1/models', '/openapi.json', '/docs', '/.well-known/ai-plugin.json', '/plugin/openapi.yaml', '/d/x', '/nothing'])(
    'refuses a host that is not configured: %s',
    async (path) => {
      for (const host of ['rebound.evil.example', 'rebound.evil.example:8787', 'localhost.evil.example', '192.168.1.5', '2130706433']) {
        const answer = await get(path, { host })
        expect([answer.status, codeOf(answer)]).toEqual([421, 'unknown_host'])
        expect(answer.text).not.toContain(`http://${host}`)
      }
    },
  )

  it('accepts the names of this machine and the configured ones, with any port', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:8787', '[::1]:8787', 'code.example.org', 'Code.Example.org:443'])
      expect((await get('/v1/models', { host })).status, host).toBe(200)
  })

  it('answers probes under any address', async () => {
    expect((await get('/healthz', { host: '10.0.0.7:8787' })).status).toBe(200)
    expect((await get('/readyz', { host: '10.0.0.7:8787' })).status).toBe(200)
  })
})

describe('a request that a page makes a browser send', () => {
  it.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://localhost:1' }],
    ['a script or image element of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
  ])('is refused from %s', async (_, headers) => {
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/containers'],
      ['POST', '/execute'],
      ['GET', '/openapi.json'],
    ] as const) {
      const answer = await get(path, { ...headers, host: new URL(api.url).host }, method)
      expect([answer.status, codeOf(answer)], path).toEqual([403, 'origin_not_allowed'])
    }
  })

  it('is accepted from a page of the server', async () => {
    const { host } = new URL(api.url)
    expect((await get('/v1/models', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await get('/docs', { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).status).toBe(200)
  })

  it('is accepted from any page when it follows a link or shows a picture of an answer', async () => {
    const { host } = new URL(api.url)
    expect((await get('/docs', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status).toBe(200)
    const picture = await get('/d/missing', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })
    expect(codeOf(picture)).toBe('link_not_found')
  })
})
