import type { Hono } from 'hono'
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ApiDeps } from '../../http/deps.ts'
import { KeptDocuments } from '../../http/kept-documents.ts'
import { PAGE_HEADER } from '../../http/page/page-session.ts'
import { ServiceError } from '../../model/errors.ts'
import { publicUrlOf } from '../../http/public-url.ts'
import { json } from '../../http/responses.ts'
import { openApiDocument } from './openapi.ts'
import type { ApiHono } from '../../http/middleware/wide-event.ts'
import type { ApiConfig } from '../../http/config.ts'
import { WIRES } from '../../wires/routes.ts'

/** No resource of another origin, so that the page works offline and sends nothing to other services. */
const policy = (nonce: string): string =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Requests that a reader sends from the reference carry the session of the page, which needs the page's header for changes. */
const sessionScript = (nonce: string): string => `<script nonce="${nonce}">
const send = window.fetch
window.fetch = (input, init) => {
  const request = new Request(input, init)
  if (new URL(request.url).origin === location.origin) {
    request.headers.set('${PAGE_HEADER}', 'reference')
    if (/^Bearer *$/.test(request.headers.get('authorization') ?? '')) request.headers.delete('authorization')
  }
  return send(request)
}
</script>`

/** What the library leaves out: names of its buttons with a picture only, and lists that scroll but take no focus. */
const accessibilityScript = (nonce: string): string => `<script nonce="${nonce}">
let isPlanned = false
const complete = () => {
  isPlanned = false
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) button.setAttribute('aria-label', 'Copy')
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0
}
new MutationObserver(() => {
  if (!isPlanned) setTimeout(complete, 100)
  isPlanned = true
}).observe(document, { childList: true, subtree: true })
</script>`

/** The bar that the page and the guide have too. The reference keeps this height free at its top. Its own greys and colours are too pale to read. */
const BAR = `<style>
body.light-mode { --scalar-color-2: #4c515e; --scalar-color-3: #5c6270; --scalar-color-green: #08693a; --scalar-color-blue: #0a57ad; --scalar-color-red: #b3261e; --scalar-color-orange: #974000; --scalar-color-yellow: #7a5300 }
code [class^="hljs-"] { color: inherit !important }
body.dark-mode { --scalar-color-2: #c3c8d4; --scalar-color-3: #aab0be; --scalar-color-green: #6fd3a1; --scalar-color-blue: #8fb4ff; --scalar-color-red: #ff9d93; --scalar-color-orange: #ffb083; --scalar-color-yellow: #f3cf7a }
@font-face { font-family: Inter; font-weight: 100 900; font-display: swap; src: url(/assets/inter.woff2) format('woff2') }
:root { --scalar-custom-header-height: 45px }
.top-bar { position: sticky; top: 0; z-index: 10; display: flex; align-items: center; gap: 20px; height: 44px; padding: 0 20px; border-bottom: 1px solid #8884; background: var(--scalar-background-1, Canvas); color: var(--scalar-color-1, CanvasText); font: 14px/1.4 Inter, system-ui, sans-serif }
.top-bar a { color: inherit; text-decoration: none }
.top-bar a:hover, .top-bar [aria-current] { text-decoration: underline; text-underline-offset: 6px }
</style>
<nav class="top-bar" aria-label="Cellblock"><strong>Cellblock</strong><a href="/">Chat</a><a href="/docs/guide/">Guide</a><a href="/docs" aria-current="page">API reference</a></nav>`

/** One for each address of the server. */
const MAX_DESCRIPTIONS = 8

/** Serves `/openapi.json`, and a reference page of it whose script is a local file. */
export function mountDocs(
  app: Hono<ApiHono>,
  { config, readReference = readInstalledReference, documents }: Pick<ApiDeps, 'config' | 'readReference' | 'documents'>,
): void {
  // Clients choose the port in this address, and a description takes 1 MB.
  const descriptions = new KeptDocuments({ most: MAX_DESCRIPTIONS, compresses: config.openCalls === null })
  app.get('/openapi.json', async ({ req: { raw } }) => {
    const url = publicUrlOf(raw, config)
    return found(await descriptions.answer(raw, url, async () => json(200, openApiDocument(url), { 'cache-control': 'no-cache' })))
  })

  app.get('/docs', async (context, next) => {
    // The page's library is loaded with the first request for the page, so it does not delay the start.
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
      // Both would send the reader to an external service.
      hideClientButton: true,
      showDeveloperTools: 'never',
      authentication: { preferredSecurityScheme: 'apiKey' },
      agent: { disabled: true },
      mcp: { disabled: true },
    })
    const answer = await render(context, next)
    if (answer === undefined) return context.notFound()
    // The library's document names no language.
    const html = (await answer.text())
      .replace('<html>', '<html lang="en">')
      .replace('<head>', `<head>${sessionScript(nonce)}${accessibilityScript(nonce)}`)
      .replace('<body>', `<body>${BAR}`)
    return new Response(html, answer)
  })

  app.get('/docs/reference.js', async ({ req: { raw } }) => {
    const make = async (): Promise<Response | null> => {
      const script = await readReference()
      if (script === null) return null
      return new Response(Readable.toWeb(Readable.from(script.body)) as ReadableStream, {
        headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=3600' },
      })
    }
    return found(await documents.answer(raw, 'reference', make))
  })
}

function found(document: Response | null): Response {
  if (document === null) throw new ServiceError('not_found', 'This server has no such document. GET /llms.txt names all.')
  return document
}

/** The script of the installed package. A bundle does not contain it: the site bucket does. */
async function readInstalledReference() {
  const file = fileURLToPath(new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference')))
  const { size } = await stat(file)
  return { body: createReadStream(file), bytes: size }
}

/** What a language model needs to use this server, in the form of https://llmstxt.org. */
const textOf = (url: string): string => `# Cellblock

> Runs code in isolated sandboxes without a network, for chat turns and for programs. It speaks OpenAI's wire and a native wire, and others for existing clients.

- Base URL for OpenAI SDKs: ${url}/v1, with \`Authorization: Bearer ck_…\`
- A chat turn with code: POST ${url}/v1/responses with \`"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]\`
- Code without a model: POST ${url}/v1/containers, then POST ${url}/v1/containers/{id}/executions with \`{"code": "print(1)"}\`
- A command: POST ${url}/v1/containers/{id}/commands with \`{"command": "ls -l"}\`
${WIRES.flatMap(({ name, hint }) => (hint === undefined ? [] : `- ${name}: ${hint(url)}\n`)).join('')}- Files are in \`/mnt/data\`. Variables and files stay in the container. Code that fails is a result, not an error.

## Documentation

- [OpenAPI](${url}/openapi.json): every route with its fields
- [Errors](${url}/docs/errors): what each code means and what to do
- [API reference](${url}/docs): for people
`

export function mountLlms(app: Hono<ApiHono>, config: ApiConfig): void {
  app.get(
    '/llms.txt',
    (context) =>
      new Response(textOf(publicUrlOf(context.req.raw, config)), {
        headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' },
      }),
  )
}
