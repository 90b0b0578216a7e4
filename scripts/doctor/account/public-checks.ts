import { LAMBDA_REQUEST_BYTES } from '../../../services/http/origin/config.ts'
import type { CheckName } from '../check-names.ts'
import { fail, ok, type Finding } from '../finding.ts'
import { checkEmptyAnswers } from './empty-answers-check.ts'
import { call, reasonOf, withContainer, type Api } from './service-calls.ts'

/** Above what a function takes, and below the limits of the API. */
const UPLOAD_BYTES = 8_000_000
const TIMEOUT_MS = 120_000

/**
 * Checks what only the deployed distribution shows: the page, its session, the way of a body that is too large for a function, and
 * answers without content.
 */
export async function checkPublicSide(
  api: Api,
  { uploadService, corsOrigins = [] }: { readonly uploadService: boolean; readonly corsOrigins?: readonly string[] },
): Promise<readonly Finding[]> {
  const [origin] = corsOrigins
  return [
    await checked('Page', () => checkPage(api)),
    await checked('Session', () => checkSession(api)),
    await checked('Uploads', () => checkUpload(api, uploadService)),
    await checked('Large JSON', () => checkLargeJson(api)),
    ...(origin === undefined ? [] : [await checked('Preflight', () => checkPreflight(api, origin))]),
    await checked('Page files', () => checkPageFiles(api)),
    await checked('Empty answers', () => checkEmptyAnswers(api)),
  ]
}

async function checked(name: CheckName, check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    return fail(name, `The distribution did not answer: ${reasonOf(error)}. Check the URL and the network.`)
  }
}

async function checkPage({ url }: Api): Promise<Finding> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const hasPolicy = answer.headers.get('content-security-policy') !== null
  await answer.body?.cancel()
  return answer.status === 200 && hasPolicy
    ? ok('Page', 'the web page answers with its content security policy')
    : fail(
        'Page',
        `The web page answers ${answer.status}${hasPolicy ? '' : ' without a content security policy'}. Run npm run deploy again: it uploads the page.`,
      )
}

/** Signs in as the page does: the cookie must come back through the distribution, and reach the API with the next requests. */
async function checkSession({ url, key }: Api): Promise<Finding> {
  const timeout = (): AbortSignal => AbortSignal.timeout(TIMEOUT_MS)
  const headers = { 'content-type': 'application/json' }
  const signIn = await fetch(`${url}/session`, { method: 'POST', headers, body: JSON.stringify({ api_key: key }), signal: timeout() })
  await signIn.body?.cancel()
  const cookie = signIn.headers.getSetCookie().map((one) => one.split(';')[0])[0]
  if (signIn.status !== 200 || cookie === undefined)
    return fail(
      'Session',
      `The page's sign-in answers ${signIn.status}${cookie === undefined ? ' without a cookie' : ''}. Check the API key.`,
    )
  const session = await fetch(`${url}/session`, { headers: { cookie }, signal: timeout() })
  const said = (await session.json().catch(() => ({}))) as { signed_in?: boolean }
  const models = await fetch(`${url}/v1/models`, { headers: { cookie }, signal: timeout() })
  await models.body?.cancel()
  return said.signed_in === true && models.status === 200
    ? ok('Session', 'the cookie of a sign-in on the page is valid for the next requests')
    : fail(
        'Session',
        `The session did not last: GET /session says signed_in ${said.signed_in}, GET /v1/models answers ${models.status}. The distribution must forward cookies; run npm run deploy again.`,
      )
}

async function checkUpload({ url, key }: Api, uploadService: boolean): Promise<Finding> {
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('file', new Blob([new Uint8Array(UPLOAD_BYTES)]), 'doctor.bin')
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/v1/files`, { method: 'POST', body: form, headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const said = (await answer.json().catch(() => ({}))) as { id?: string; bytes?: number; error?: { code?: string } }
  if (said.id !== undefined) await fetch(`${url}/v1/files/${said.id}`, { method: 'DELETE', headers }).catch(() => undefined)
  if (uploadService)
    return said.bytes === UPLOAD_BYTES
      ? ok('Uploads', 'a file of 8 MB went through the upload service')
      : fail('Uploads', `A file of 8 MB was answered with ${answer.status}. docs/operations.md (uploads-down) says what to check.`)
  return said.error?.code === 'request_too_large'
    ? ok('Uploads', 'a body of 8 MB is refused in the error envelope (api.uploadService is false)')
    : fail('Uploads', `A body of 8 MB was answered with ${answer.status} and not in the error envelope. Run npm run deploy again.`)
}

/**
 * The largest JSON that goes to the function, with as many quotation marks as structured data has. Lambda counts them twice, and refuses what is too
 * large outside the error envelope. The model does not exist, so the API refuses the request.
 */
async function checkLargeJson({ url, key }: Api): Promise<Finding> {
  const item = { role: 'user', content: 'a' }
  const frame = Buffer.byteLength(JSON.stringify({ model: 'doctor-none', input: [item] }))
  const count = Math.floor((LAMBDA_REQUEST_BYTES.json - frame) / (JSON.stringify(item).length + 1))
  const body = JSON.stringify({ model: 'doctor-none', input: Array.from({ length: count }, () => item) })
  const answer = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const said = (await answer.json().catch(() => ({}))) as { error?: { code?: string }; request_id?: string }
  return said.request_id !== undefined && answer.status < 500
    ? ok('Large JSON', `the API itself answered ${body.length} bytes of JSON (${said.error?.code ?? answer.status})`)
    : fail(
        'Large JSON',
        `${body.length} bytes of JSON were answered with ${answer.status} and not by the API. The limit in services/http/origin/config.ts is too high.`,
      )
}

/** What a browser asks before a page of another origin may call the API. */
async function checkPreflight({ url }: Api, origin: string): Promise<Finding> {
  const answer = await fetch(`${url}/v1/models`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await answer.body?.cancel()
  return answer.headers.get('access-control-allow-origin') === origin
    ? ok('Preflight', `the distribution lets pages of ${origin} call the API`)
    : fail(
        'Preflight',
        `The preflight of ${origin} (api.corsOrigins) was answered with ${answer.status} and without permission. Run npm run deploy again.`,
      )
}

/** What a browser asks the object store before the page uploads a large file by a signed link. */
async function checkPageFiles(api: Api): Promise<Finding> {
  const origin = new URL(api.url).origin
  const link = await withContainer(api, ({ path }) =>
    call(api, { method: 'POST', path: `${path}/files/upload_url`, body: { path: 'doctor.bin', bytes: UPLOAD_BYTES } }),
  )
  const url = String(link['url'])
  const names = Object.keys((link['headers'] ?? {}) as Record<string, string>).filter((name) => name !== 'content-length')
  // A link of the same origin needs no preflight.
  if (new URL(url).origin === origin) return ok('Page files', 'the page reads and uploads files below its own address')
  const answer = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': names.join(',') },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await answer.body?.cancel()
  const allowed = answer.headers.get('access-control-allow-origin')
  return answer.status === 200 && (allowed === origin || allowed === '*')
    ? ok('Page files', 'the bucket lets the page read and upload files')
    : fail(
        'Page files',
        `The bucket answers the page's preflight with ${answer.status}, so previews and uploads of large files fail in the browser. Its CORS rule must name ${origin}; run npm run deploy again.`,
      )
}
