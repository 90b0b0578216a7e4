import type { Hono } from 'hono'
import { ServiceError, ERRORS, type ErrorCode } from '../../model/errors.ts'
import { ERROR_HELP, errorPagePath, isErrorCode } from '../../model/error-help.ts'
import type { ApiHono } from '../../http/middleware/wide-event.ts'
import { PLAIN_PAGE_HEADERS, plainPage } from '../../http/page/plain-page.ts'

const HEADERS = { ...PLAIN_PAGE_HEADERS, 'cache-control': 'public, max-age=3600' } as const

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
  return plainPage(`${code} – Cellblock`, body.join(''))
}

function listPage(): string {
  const rows = Object.keys(ERRORS)
    .filter(isErrorCode)
    .map((code) => `<dt><a href="${errorPagePath(code)}"><code>${code}</code></a></dt><dd>${markup(ERROR_HELP[code].means)}</dd>`)
  return plainPage('Errors – Cellblock', `<h1>Errors</h1><dl>${rows.join('')}</dl>`)
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
