import type { OpenAPIHono } from '@hono/zod-openapi'
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ApiConfig } from '../config.ts'
import { publicUrlOf } from '../http/public-url.ts'
import { json } from '../http/responses.ts'
import { openApiDocument } from './openapi.ts'
import type { ApiHono } from '../middleware/wide-event.ts'

/** Nothing from another origin: the page works offline and reports to no other service. */
const policy = (nonce: string): string =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** `/openapi.json`, and a reference page made of it with its script from our own disk. */
export function mountDocs(app: OpenAPIHono<ApiHono>, config: ApiConfig): void {
  app.get('/openapi.json', (context) =>
    json(200, openApiDocument(app, publicUrlOf(context.req.raw, config)), { 'cache-control': 'no-cache' }),
  )

  app.get('/docs', async (context, next) => {
    // The page's library is loaded with the page: a start without a reader does not pay for it.
    const { Scalar } = await import('@scalar/hono-api-reference')
    const nonce = randomBytes(16).toString('base64')
    context.header('content-security-policy', policy(nonce))
    const render = Scalar<ApiHono>({
      pageTitle: 'Cellblock API',
      url: '/openapi.json',
      cdn: '/docs/reference.js',
      nonce,
      withDefaultFonts: false,
      telemetry: false,
      // Both would hand the reader over to a service elsewhere.
      hideClientButton: true,
      showDeveloperTools: 'never',
      authentication: { preferredSecurityScheme: 'apiKey' },
      agent: { disabled: true },
      mcp: { disabled: true },
    })
    return (await render(context, next)) ?? context.notFound()
  })

  app.get('/docs/reference.js', async () => {
    const file = fileURLToPath(new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference')))
    const { size } = await stat(file)
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': String(size),
        'cache-control': 'public, max-age=3600',
      },
    })
  })
}
