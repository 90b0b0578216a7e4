import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

const PAGE = 'https://app.example.com'

let api: TestApi
let closed: TestApi
beforeAll(async () => {
  ;[api, closed] = await Promise.all([startApi({ config: { corsOrigins: [PAGE, 'http://localhost:3000'] } }), startApi()])
})
afterAll(() => Promise.all([api.stop(), closed.stop()]))

/** The preflight request of a browser for a request with a key. */
const preflight = (from: TestApi, origin: string, path = '/v1/responses') =>
  from.fetch(path, {
    method: 'OPTIONS',
    key: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    },
  })

describe('a page of an allowed origin', () => {
  it('passes the preflight with every header that an SDK sends', async () => {
    for (const origin of [PAGE, 'http://localhost:3000']) {
      const answer = await preflight(api, origin)
      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
      expect(answer.headers.get('access-control-allow-methods')?.split(',')).toContain('POST')
      expect(answer.headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-stainless-os')
      expect(answer.headers.get('access-control-max-age')).toBe('3600')
      expect(answer.headers.get('vary')?.toLowerCase()).toContain('origin')
      // The page sends the key in a header; cookies are not used.
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    }
  })

  it('may read replies, errors and the request id', async () => {
    const key = await api.newKey()
    const served = await api.fetch('/v1/models', { key, headers: { origin: PAGE } })
    const refused = await api.fetch('/v1/models', { key: null, headers: { origin: PAGE } })
    const missing = await api.fetch('/v1/nothing', { key, headers: { origin: PAGE } })
    expect([served.status, refused.status, missing.status]).toEqual([200, 401, 404])
    for (const answer of [served, refused, missing]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE)
      expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id')
    }
  })
})

describe('a page of any other origin', () => {
  it.each(['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null', ''])(
    'is kept out: %s',
    async (origin) => {
      const key = await api.newKey()
      const asked = await preflight(api, origin)
      const answered = await api.fetch('/v1/models', { key, headers: { origin } })
      for (const answer of [asked, answered]) {
        expect(answer.status).toBe(403)
        expect(answer.headers.has('access-control-allow-origin')).toBe(false)
      }
    },
  )

  it('is refused everywhere without a configured origin', async () => {
    const answer = await preflight(closed, PAGE)
    expect(answer.status).toBe(403)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})
