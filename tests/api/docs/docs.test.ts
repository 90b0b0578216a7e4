import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUTES } from '../../../services/wires/routes.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly unknown[]
  readonly responses: Record<string, { readonly description: string; readonly content?: Record<string, { readonly schema: unknown }> }>
  readonly requestBody?: { readonly required: boolean }
}
interface Document {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, unknown>; readonly securitySchemes: Record<string, unknown> }
}

let api: TestApi
let document: Document
beforeAll(async () => {
  api = await startApi()
  document = (await (await fetch(`${api.url}/openapi.json`)).json()) as Document
})
afterAll(() => api.stop())

it('describes every route once', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.servers).toEqual([{ url: api.url }])
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => `${method} ${path} ${operation.operationId}`),
  )
  expect(described.toSorted()).toEqual(
    ROUTES.filter(({ isForeign }) => isForeign !== true)
      .map((route) => `${route.method} ${route.path} ${route.operationId}`)
      .toSorted(),
  )
  expect(new Set(described.map((line) => line.split(' ')[2])).size).toBe(described.length)
})

/** Two wires have the error envelopes of their protocols. */
const errorOf = (path: string): string => (path.startsWith('/librechat/') ? 'LibreChatError' : path === '/mcp' ? 'McpError' : 'Error')

it('documents summary, responses and errors of every route', () => {
  const tags = document.tags.map((tag) => tag.name)
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      expect(operation.summary, path).toBeTruthy()
      expect(tags, path).toContain(operation.tags[0])
      const isOpen = [
        '/healthz',
        '/readyz',
        '/librechat/v1/health',
        '/d/{token}',
        '/.well-known/ai-plugin.json',
        '/plugin/openapi.yaml',
        '/logo.png',
        '/v1/shares/{token}',
        '/v1/shares/{token}/items',
        '/v1/shares/{token}/items/{item_id}/execution',
      ].includes(path)
      expect(operation.security, path).toEqual(isOpen ? [] : [{ apiKey: [] }])
      expect(Object.keys(operation.responses), path).toEqual(expect.arrayContaining(isOpen ? ['400', '500'] : ['400', '401', '500']))
      if (operation.requestBody !== undefined)
        expect(operation.requestBody.required, `${method} ${path}`).toBe(operation.operationId !== 'createConversation')
      for (const [status, answer] of Object.entries(operation.responses))
        if (Number(status) >= 400 && path !== '/readyz')
          expect(answer.content?.['application/json']?.schema, `${path} ${status}`).toEqual({
            $ref: `#/components/schemas/${errorOf(path)}`,
          })
    }
  }
  expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } })
})

it('has no dangling reference', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1] ?? '')
  expect(references.length).toBeGreaterThan(20)
  for (const name of references) expect(document.components.schemas).toHaveProperty(name)
})

it('serves a page without external resources', async () => {
  const page = await fetch(`${api.url}/docs`)
  const html = await page.text()
  expect(page.status).toBe(200)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'/)
  expect(policy).not.toMatch(/https?:|\*/)
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
  expect([...html.matchAll(/<script[^>]*>/g)].every(([tag]) => tag.includes(`nonce="${nonce}"`))).toBe(true)
  expect([...html.matchAll(/src="([^"]+)"/g)].map((match) => match[1])).toEqual(['/docs/reference.js'])
  // Links of the bar to the page, the guide and the reference itself.
  expect([...html.matchAll(/href="([^"]+)"/g)].map((match) => match[1])).toEqual(['/', '/docs/guide/', '/docs'])
  expect(html).not.toContain('cdn.')

  const script = await fetch(`${api.url}/docs/reference.js`, { headers: { 'accept-encoding': 'identity' } })
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect((await script.arrayBuffer()).byteLength).toBe(Number(script.headers.get('content-length')))
})

it('has the schemas of server-sent events', () => {
  const schemaOf = (path: string, method: string): unknown =>
    document.paths[path]?.[method]?.responses['200']?.content?.['text/event-stream']?.schema
  expect(schemaOf('/v1/executions/{execution_id}/events', 'get')).toEqual({ $ref: '#/components/schemas/ExecutionEvent' })
  expect(schemaOf('/v1/responses', 'post')).toEqual({ $ref: '#/components/schemas/ResponseEvent' })
  expect(schemaOf('/v1/responses/{response_id}', 'get')).toEqual({ $ref: '#/components/schemas/ResponseEvent' })
  const { properties } = document.components.schemas['ExecutionEvent'] as { readonly properties: Record<string, unknown> }
  expect(Object.keys(properties)).toEqual(['status', 'stdout', 'stderr', 'output', 'clear', 'file', 'lost', 'network', 'done'])
})

it('marks optional bodies', async () => {
  expect(document.paths['/v1/containers']?.['post']?.requestBody?.required).toBe(true)
  expect(document.paths['/v1/conversations']?.['post']?.requestBody?.required).toBe(false)
  const [required, optional] = await Promise.all(['/v1/containers', '/v1/conversations'].map((path) => api.fetch(path, { method: 'POST' })))
  expect([required?.status, optional?.status]).toEqual([400, 200])
})

it.each([
  ['/v1/containers', 'POST, GET, HEAD'],
  ['/v1/containers/cntr_1', 'GET, HEAD, DELETE'],
  ['/v1/models', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
])('names the methods of %s in Allow', async (path, allow) => {
  const answer = await api.fetch(path, { method: 'PUT' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
})

it('serves a page per error code, which a refusal names in its header', async () => {
  const refusal = await fetch(`${api.url}/v1/containers/cntr_missing`, { headers: { authorization: `Bearer ${api.owner.key}` } })
  const link = /^<(\/docs\/errors\/(\w+))>; rel="help"$/.exec(refusal.headers.get('link') ?? '')
  expect(link?.[2]).toBe(((await refusal.json()) as { error: { code: string } }).error.code)
  const page = await fetch(`${api.url}${link?.[1]}`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('What to do')
  expect(await (await fetch(`${api.url}/docs/errors`)).text()).toContain('href="/docs/errors/rate_limit_exceeded"')
  expect((await fetch(`${api.url}/docs/errors/no_such_code`)).status).toBe(404)
})

it('tells a language model how to use the server', async () => {
  const text = await (await fetch(`${api.url}/llms.txt`)).text()
  for (const path of ['/v1', '/mcp', '/openapi.json', '/docs/errors']) expect(text).toContain(`${api.url}${path}`)
})

it.each(['/docs', '/docs/reference.js', '/openapi.json'])('compresses %s, and answers 304 to a browser that has it', async (path) => {
  const answer = await fetch(`${api.url}${path}`, { headers: { 'accept-encoding': 'gzip' } })
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect(answer.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
  await answer.arrayBuffer()
  // The reference has a new nonce in each answer.
  if (path === '/docs') return
  const etag = answer.headers.get('etag') ?? ''
  expect((await fetch(`${api.url}${path}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
})
