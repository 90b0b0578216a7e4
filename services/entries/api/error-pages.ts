import type { Hono } from 'hono'
import { ServiceError, ERRORS, type ErrorCode } from '../../model/errors.ts'
import { ERROR_HELP, errorPagePath, isErrorCode } from '../../model/error-help.ts'
import type { ApiHono } from '../../http/middleware/wide-event.ts'

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'public, max-age=3600',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:640px;margin:48px auto;padding:0 20px;color-scheme:light dark}h1{font-size:24px}code{font-size:.92em}dt{font-weight:600;margin-top:14px}dd{margin:0}'

const document = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style><body>${body}</body></html>`

/** Backticks become code. The texts are those of this program. */
const markup = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')

function pageOf(code: ErrorCode): string {
  const { status, type, retryable } = ERRORS[code]
  const { means, fix } = ERROR_HELP[code]
  const body = [
    `<h1><code>${code}</code></h1><p>${markup(means)}</p>`,
    `<dl><dt>What to do</dt><dd>${markup(fix)}</dd>`,
    `<dt>HTTP status</dt><dd>${status}</dd><dt><code>error.type</code></dt><dd><code>${type}</code></dd>`,
    `<dt>The same request may succeed later</dt><dd>${retryable ? 'yes' : 'no'}</dd></dl>`,
    '<p><a href="/docs/errors">All errors</a> · <a href="/docs">API reference</a></p>',
  ]
  return document(`${code} – Cellblock`, body.join(''))
}

function listPage(): string {
  const rows = Object.keys(ERRORS)
    .filter(isErrorCode)
    .map((code) => `<dt><a href="${errorPagePath(code)}"><code>${code}</code></a></dt><dd>${markup(ERROR_HELP[code].means)}</dd>`)
  return document('Errors – Cellblock', `<h1>Errors</h1><dl>${rows.join('')}</dl>`)
}

/** Serves a page per error code, which the header `Link` of a refusal names. */
export function mountErrorPages(app: Hono<ApiHono>): void {
  app.get('/docs/errors', () => new Response(listPage(), { headers: HEADERS }))
  app.get('/docs/errors/:code', (context) => {
    const code = context.req.param('code')
    if (!isErrorCode(code)) throw new ServiceError('not_found', 'There is no error of this code. /docs/errors lists all.')
    return new Response(pageOf(code), { headers: HEADERS })
  })
}
