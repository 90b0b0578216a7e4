import { Hono } from 'hono'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { edgeFunctionCode } from '../../infra/constructs/edge-function.ts'
import { ERRORS } from '../../services/model/errors.ts'
import { allowOrigins } from '../../services/http/middleware/cross-origin.ts'
import { LAMBDA_REQUEST_BYTES } from '../../services/http/origin/config.ts'

interface EdgeRequest {
  readonly headers: Record<string, { value: string }>
}
interface EdgeAnswer {
  readonly statusCode: number
  readonly body: { readonly data: string }
}

/** What the distribution does with a request: the request as it is passed on, or an answer. */
const atEdge = (headers: Readonly<Record<string, string>>): EdgeRequest | EdgeAnswer => {
  const given = Object.fromEntries(Object.entries({ host: 'code.example.com', ...headers }).map(([name, value]) => [name, { value }]))
  return runInNewContext(`${edgeFunctionCode({ uploadOrigin: null, corsOrigins: [] })}; handler(event)`, {
    event: { request: { headers: given } },
  }) as EdgeRequest | EdgeAnswer
}
const upload = (bytes: number, type: string) => atEdge({ 'content-length': String(bytes), 'content-type': type })

/** The origin that the function selects with an upload service; null keeps the API's function. */
function originFor(headers: Readonly<Record<string, string>>): string | null {
  let selected: string | null = null
  const cf = { selectRequestOriginById: (id: string) => (selected = id) }
  const given = Object.fromEntries(Object.entries({ host: 'code.example.com', ...headers }).map(([name, value]) => [name, { value }]))
  const [first = '', ...rest] = edgeFunctionCode({ uploadOrigin: 'uploads', corsOrigins: [] }).split('\n')
  expect(first).toBe("import cf from 'cloudfront';")
  const passed = runInNewContext(`${rest.join('\n')}; handler(event)`, { cf, event: { request: { headers: given } } }) as EdgeRequest
  expect(passed.headers['x-forwarded-host']).toEqual({ value: 'code.example.com' })
  return selected
}

describe('the edge function with an upload service', () => {
  it.each([
    ['multipart/form-data; boundary=x', LAMBDA_REQUEST_BYTES.binary],
    ['application/octet-stream', LAMBDA_REQUEST_BYTES.binary],
    ['application/json', LAMBDA_REQUEST_BYTES.json],
  ])('sends %s up to %i bytes to the function and larger bodies to the service', (type, limit) => {
    expect(originFor({ 'content-length': String(limit), 'content-type': type })).toBeNull()
    expect(originFor({ 'content-length': String(limit + 1), 'content-type': type })).toBe('uploads')
  })

  it('sends a body of unknown length to the service, and requests without a body to the function', () => {
    for (const type of ['multipart/form-data; boundary=x', 'application/json', 'application/octet-stream'])
      expect(originFor({ 'content-type': type })).toBe('uploads')
    expect(originFor({})).toBeNull()
  })
})

const PAGE = 'https://app.example.com'

describe('the edge function and a preflight', () => {
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' }
  const atEdgeOf = (origins: readonly string[], method: string, headers: Readonly<Record<string, string>>) => {
    const given = Object.fromEntries(Object.entries({ host: 'code.example.com', ...headers }).map(([name, value]) => [name, { value }]))
    const code = edgeFunctionCode({ uploadOrigin: null, corsOrigins: origins })
    return runInNewContext(`${code}; handler(event)`, { event: { request: { method, headers: given } } }) as {
      readonly statusCode?: number
      readonly headers: Readonly<Record<string, { readonly value: string }>>
    }
  }

  it('answers an allowed origin as the API does', async () => {
    const app = new Hono().use('*', allowOrigins([PAGE]))
    for (const given of [asked, { 'access-control-request-method': 'DELETE' }]) {
      const headers = { origin: PAGE, ...given }
      const ofApi = await app.request('/v1/responses', { method: 'OPTIONS', headers })
      const ofEdge = atEdgeOf(['https://other.example', PAGE], 'OPTIONS', headers)
      expect(ofEdge.statusCode).toBe(ofApi.status)
      for (const name of ['origin', 'methods', 'headers', 'credentials'].map((part) => `access-control-allow-${part}`))
        expect(ofEdge.headers[name]?.value ?? null, name).toBe(ofApi.headers.get(name))
      expect(ofEdge.headers['access-control-max-age']?.value).toBe(ofApi.headers.get('access-control-max-age'))
      expect(ofEdge.headers['vary']?.value).toContain('Origin')
    }
  })

  it('passes on every other request', () => {
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'null'])
      expect(atEdgeOf([PAGE], 'OPTIONS', { origin, ...asked })).not.toHaveProperty('statusCode')
    expect(atEdgeOf([], 'OPTIONS', { origin: PAGE, ...asked })).not.toHaveProperty('statusCode')
    expect(atEdgeOf([PAGE], 'OPTIONS', { origin: PAGE })).not.toHaveProperty('statusCode')
    expect(atEdgeOf([PAGE], 'POST', { origin: PAGE, ...asked })).not.toHaveProperty('statusCode')
  })
})

describe('the edge function', () => {
  it('forwards the host name of the request and replaces a forged one', () => {
    expect(atEdge({ 'x-forwarded-host': 'forged.example' })).toMatchObject({
      headers: { 'x-forwarded-host': { value: 'code.example.com' } },
    })
  })

  it.each([
    ['multipart/form-data; boundary=x', LAMBDA_REQUEST_BYTES.binary],
    ['application/octet-stream', LAMBDA_REQUEST_BYTES.binary],
    ['application/json; charset=utf-8', LAMBDA_REQUEST_BYTES.json],
  ])('accepts %s up to %i bytes and refuses one byte more in the error envelope', (type, limit) => {
    expect(upload(limit, type)).toHaveProperty('headers.x-forwarded-host')
    const refused = upload(limit + 1, type) as EdgeAnswer
    expect(refused.statusCode).toBe(ERRORS.request_too_large.status)
    const { error } = JSON.parse(refused.body.data) as { error: { code: string; type: string; message: string } }
    expect(error).toMatchObject({ code: 'request_too_large', type: ERRORS.request_too_large.type, param: null })
    expect(error.message).toContain('POST /v1/uploads')
  })

  it('refuses what Lambda would refuse: six megabytes per event, binary bodies in base64', () => {
    const lambdaBytes = 6 * 1024 ** 2
    expect(Math.ceil(LAMBDA_REQUEST_BYTES.binary / 3) * 4).toBeLessThan(lambdaBytes - 65_536)
    // JSON is a JSON string in the event. Many small items have the most quotation marks for their length.
    const item = { id: 'item_000001', type: 'message', role: 'user', content: 'a line of text' }
    const text = JSON.stringify(Array.from({ length: LAMBDA_REQUEST_BYTES.json / JSON.stringify(item).length }, () => item))
    expect(Buffer.byteLength(text)).toBeGreaterThan(LAMBDA_REQUEST_BYTES.json * 0.99)
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(lambdaBytes - 65_536)
  })

  it('has a size that CloudFront accepts', () => {
    expect(Buffer.byteLength(edgeFunctionCode({ uploadOrigin: 'uploads', corsOrigins: [PAGE, 'http://localhost:3000'] }))).toBeLessThan(
      10_240,
    )
  })
})
