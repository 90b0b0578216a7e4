import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUTES } from '../../../services/api/wires/routes.ts'
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

it('describes every route, once', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.servers).toEqual([{ url: api.url }])
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => `${method} ${path} ${operation.operationId}`),
  )
  expect(described.toSorted()).toEqual(ROUTES.map((route) => `${route.method} ${route.path} ${route.operationId}`).toSorted())
  expect(new Set(described.map((line) => line.split(' ')[2])).size).toBe(described.length)
})

it('says of every route what it does, what it answers and how it refuses', () => {
  const tags = document.tags.map((tag) => tag.name)
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      expect(operation.summary, path).toBeTruthy()
      expect(tags, path).toContain(operation.tags[0])
      const isOpen = ['/healthz', '/readyz', '/d/{token}', '/.well-known/ai-plugin.json', '/plugin/openapi.yaml', '/logo.png'].includes(
        path,
      )
      expect(operation.security, path).toEqual(isOpen ? [] : [{ apiKey: [] }])
      expect(Object.keys(operation.responses), path).toEqual(expect.arrayContaining(isOpen ? ['400', '500'] : ['400', '401', '500']))
      if (operation.requestBody !== undefined) expect(operation.requestBody.required, `${method} ${path}`).toBe(true)
      for (const [status, answer] of Object.entries(operation.responses))
        if (Number(status) >= 400 && path !== '/readyz')
          expect(answer.content?.['application/json']?.schema, `${path} ${status}`).toEqual({ $ref: '#/components/schemas/Error' })
    }
  }
  expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } })
})

it('has no reference that leads nowhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1] ?? '')
  expect(references.length).toBeGreaterThan(20)
  for (const name of references) expect(document.components.schemas).toHaveProperty(name)
})

it('serves a page that needs no other host', async () => {
  const page = await fetch(`${api.url}/docs`)
  const html = await page.text()
  expect(page.status).toBe(200)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'/)
  expect(policy).not.toMatch(/https?:|\*/)
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
  expect([...html.matchAll(/<script[^>]*>/g)].every(([tag]) => tag.includes(`nonce="${nonce}"`))).toBe(true)
  expect([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1])).toEqual(['/docs/reference.js'])
  expect(html).not.toContain('cdn.')

  const script = await fetch(`${api.url}/docs/reference.js`)
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect((await script.arrayBuffer()).byteLength).toBe(Number(script.headers.get('content-length')))
})
