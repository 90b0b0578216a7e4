import { createHash } from 'node:crypto'
import type { Hono } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import type { KeptDocuments } from '../kept-documents.ts'
import type { ApiHono } from '../middleware/wide-event.ts'
import type { PageFile } from '../page-ports.ts'
import { PLAIN_PAGE_HEADERS, plainPage } from './plain-page.ts'

const BASE = '/docs/guide/'
const MAX_AGE = 'public, max-age=31536000, immutable'

/** The site's own inline scripts are allowed by their hashes. */
function policyOf(html: string): string {
  const hashes = [...html.matchAll(/<script(?: id="[\w-]+")?>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

/** Null for a path that is not encoded correctly. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

async function firstOf(
  paths: readonly string[],
  readFile: (path: string) => Promise<PageFile | null>,
): Promise<{ readonly path: string; readonly file: PageFile } | null> {
  for (const path of paths) {
    const file = await readFile(path)
    if (file !== null) return { path, file }
  }
  return null
}

/** A person sees this page until the documentation is built; the browser asks again every ten seconds. */
const BEING_BUILT = plainPage(
  'Documentation – Cellblock',
  '<h1>The documentation is not built yet</h1><p><code>npm start</code> builds it in the background, in a few minutes. This page shows it as soon as it is there.</p><p>The same text is in the folder <code>docs/</code> of the clone.</p>',
)

const NO_GUIDE = plainPage(
  'No documentation – Cellblock',
  '<h1>This server has no documentation</h1><p>A server that <code>npm start</code> started has it. The same text is in the folder <code>docs/</code> of the clone.</p>',
)
const isPerson = (request: { header(name: string): string | undefined }): boolean =>
  request.header('accept')?.includes('text/html') === true

/** Serves the built documentation at `/docs/guide/`. `readFile` is null on a server without it, and reads nothing before it is built. */
export function mountGuide(
  app: Hono<ApiHono>,
  { documents, readFile }: { readonly documents: KeptDocuments; readonly readFile: ((path: string) => Promise<PageFile | null>) | null },
): void {
  app.get('/docs/guide', () => new Response(null, { status: 302, headers: { location: BASE } }))
  app.get(`${BASE}*`, async (context) => {
    if (readFile === null && isPerson(context.req)) return new Response(NO_GUIDE, { status: 404, headers: PLAIN_PAGE_HEADERS })
    if (readFile === null)
      throw new ServiceError('not_found', 'This server has no documentation. Start it with `npm start`, or read the folder docs/.')
    const rest = decoded(new URL(context.req.url).pathname.slice(BASE.length))
    if (rest === null) throw new ServiceError('not_found', `The documentation has no such page. Start at ${BASE}.`)
    const candidates =
      rest === '' || rest.endsWith('/') ? [`${rest}index.html`] : /\.\w+$/.test(rest) ? [rest] : [`${rest}.html`, `${rest}/index.html`]
    const kept = await documents.answer(context.req.raw, `guide ${candidates.join(' ')}`, async () => {
      const found = await firstOf(candidates, readFile)
      return found === null ? null : guideResponse(found)
    })
    if (kept !== null) return kept
    if ((await readFile('index.html')) === null) {
      if (isPerson(context.req))
        return new Response(BEING_BUILT, { status: 404, headers: { ...PLAIN_PAGE_HEADERS, 'cache-control': 'no-store', refresh: '10' } })
      throw new ServiceError(
        'not_found',
        'The documentation is not built yet. `npm start` builds it in the background, in a few minutes; `npm run docs:build` builds it at once. The same text is in the folder docs/.',
      )
    }
    const missing = isPerson(context.req) ? await readFile('404.html') : null
    if (missing === null) throw new ServiceError('not_found', `The documentation has no page ${BASE}${rest}. Start at ${BASE}.`)
    return guideResponse({ path: '404.html', file: missing }, 404)
  })
}

const guideResponse = ({ path, file }: { readonly path: string; readonly file: PageFile }, status = 200): Response =>
  new Response(file.bytes, {
    status,
    headers: {
      'content-type': file.contentType,
      'cache-control': path.startsWith('assets/') ? MAX_AGE : 'no-cache',
      ...(path.endsWith('.html') && { 'content-security-policy': policyOf(new TextDecoder().decode(file.bytes)) }),
    },
  })
