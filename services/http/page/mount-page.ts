import * as z from 'zod'
import type { Hono } from 'hono'
import { lazySchema } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { withKey } from '../authenticate.ts'
import type { KeptDocuments } from '../kept-documents.ts'
import type { ApiConfig } from '../config.ts'
import { parseJson } from '../parse-json.ts'
import { publicUrlOf } from '../public-url.ts'
import { addressOwner, connectionOf, Exchange, type ExchangePools } from '../exchange.ts'
import { mediaType, readBody, refuseEncoded } from '../read-body.ts'
import { json } from '../responses.ts'
import { validate } from '../validate.ts'
import type { ApiHono } from '../middleware/wide-event.ts'
import { callerOf, sessionOf, type SessionPorts } from './page-session.ts'
import type { PageFile, PagePorts } from '../page-ports.ts'
import { newSession, sealSession, setCookie } from './session-cookie.ts'

/**
 * The policy of the page itself: scripts, styles and requests stay on its own origin, and markup reaches the document only through the
 * sanitizer's Trusted Types policy. Style attributes are allowed, because formulas and coloured text need them; style elements are not.
 */
function pagePolicy({ objectOrigins, frameOrigins = [] }: Pick<PagePorts, 'objectOrigins' | 'frameOrigins'>): string {
  const own = ["'self'", ...objectOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    `img-src ${own} data: blob:`,
    "font-src 'self'",
    `connect-src ${own}`,
    // A PDF is shown by the browser's own viewer, from bytes that the page has read. Published ports are on other origins.
    ["frame-src 'self' blob:", ...frameOrigins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; ')
}

/**
 * The policy of a frame that shows untrusted HTML or a chart. `sandbox` gives the document a separate origin, so it reads nothing of the page;
 * it loads its one script, and nothing else from anywhere. Charts compile expressions (`unsafe-eval`), which stays inside the frame.
 */
const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

const SignIn = lazySchema(() =>
  z.union([z.strictObject({ token: z.string().max(200) }), z.strictObject({ api_key: z.string().min(1).max(512) })]),
)
const MAX_SIGN_IN_BYTES = 4_096
const IMMUTABLE = 'public, max-age=31536000, immutable'

interface PageDeps extends SessionPorts, Pick<ExchangePools, 'bodies' | 'answers'> {
  readonly config: ApiConfig
  readonly documents: KeptDocuments
}

/** Serves the playground at `/`, `/chat/{id}` and `/s/{token}`, and its sessions at `/session`. Both belong to the page and are no part of the public API. */
export function mountPage(app: Hono<ApiHono>, deps: PageDeps): void {
  const { readFile } = deps.page
  if (readFile !== null) {
    const policy = pagePolicy(deps.page)
    // Every chat and every link to one has an address; the page itself finds the chat by it.
    const answer = async ({ raw }: { readonly raw: Request }, path: string, policyOfFile: string | null): Promise<Response> =>
      (await deps.documents.answer(raw, path, () => fileResponse(readFile, path, policyOfFile))) ?? notBuilt()
    for (const path of ['/', '/chat/:id', '/s/:token']) app.get(path, ({ req }) => answer(req, 'index.html', policy))
    app.get('/assets/:name', ({ req }) => {
      const name = req.param('name')
      return answer(req, `assets/${name}`, name.endsWith('.html') ? FRAME_POLICY : null)
    })
  }
  app.get('/session', async (context) => json(200, await describeSession(context.req.raw, deps)))
  app.post('/session', async (context) => {
    const env = connectionOf(context.env)
    const exchange = new Exchange(deps, addressOwner(env), { request: context.req.raw, env })
    return signIn(context.req.raw, deps).finally(() => exchange.handled())
  })
  app.delete('/session', async (context) => {
    await signOut(context.req.raw, deps)
    return json(200, { signed_in: false }, { 'set-cookie': setCookie('', isHttps(context.req.raw, deps.config)) })
  })
}

/** Ends the session, so that no copy of its cookie works any more. One that has ended already is only removed. */
async function signOut(request: Request, deps: PageDeps): Promise<void> {
  const session = await sessionOf(request, deps)
  if (session === null) return
  const caller = await callerOf(request, session, deps).catch((error: unknown) => {
    if (error instanceof ServiceError) return null
    throw error
  })
  if (caller !== null) await deps.ended.end(caller.tenant, session)
}

function notBuilt(): never {
  throw new ServiceError('not_found', 'The web page has no such file. Reload the page.')
}

async function signIn(request: Request, deps: PageDeps): Promise<Response> {
  refuseEncoded(request)
  if (mediaType(request) !== 'application/json')
    throw new ServiceError('unsupported_media_type', 'The body must be JSON. Send it with "Content-Type: application/json".')
  const body = validate(SignIn(), parseJson(await readBody(request, MAX_SIGN_IN_BYTES)), 'body')
  const apiKey = 'token' in body ? deps.page.redeemSignIn(body.token) : body.api_key.trim()
  if (apiKey === null)
    throw new ServiceError(
      'invalid_api_key',
      'This sign-in link was used or has expired. Sign in with an API key, or restart the server for a new link.',
    )
  await authenticateKey(request, apiKey, deps)
  const session = newSession(apiKey, deps.clock.now())
  const cookie = sealSession(session, await deps.page.sessionSecret())
  return json(
    200,
    { signed_in: true, expires_at: new Date(session.expiresAt).toISOString() },
    { 'set-cookie': setCookie(cookie, isHttps(request, deps.config)) },
  )
}

/** Whether the cookie is a valid session; its key must not be revoked. */
async function describeSession(request: Request, deps: PageDeps): Promise<Readonly<Record<string, unknown>>> {
  const session = await sessionOf(request, deps)
  if (session === null) return { signed_in: false }
  try {
    const { scopes } = await callerOf(request, session, deps)
    return { signed_in: true, scopes, expires_at: new Date(session.expiresAt).toISOString() }
  } catch (error) {
    if (error instanceof ServiceError) return { signed_in: false }
    throw error
  }
}

const authenticateKey = (request: Request, apiKey: string, { authenticate }: PageDeps): Promise<Caller> => {
  // Keys have only characters that a header can contain.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new ServiceError('invalid_api_key', 'The API key is not valid. Copy it again, without spaces.')
  return authenticate(withKey(request, apiKey))
}

const isHttps = (request: Request, config: ApiConfig): boolean => publicUrlOf(request, config).startsWith('https:')

async function fileResponse(
  readFile: (path: string) => Promise<PageFile | null>,
  path: string,
  policy: string | null,
): Promise<Response | null> {
  const file = await readFile(path)
  if (file === null) return null
  return new Response(file.bytes, {
    headers: {
      'content-type': file.contentType,
      // A link's host name is not resolved before a click: the name could carry data.
      'x-dns-prefetch-control': 'off',
      'cache-control': path === 'index.html' ? 'no-cache' : IMMUTABLE,
      // A sandboxed frame has a separate origin and loads its script from here.
      ...(path.startsWith('assets/')
        ? { 'cross-origin-resource-policy': 'cross-origin' }
        : { 'cross-origin-opener-policy': 'same-origin' }),
      ...(policy === null ? {} : { 'content-security-policy': policy }),
    },
  })
}
