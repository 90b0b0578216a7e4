import type { ServerResponse } from 'node:http'

/** Why a port does not answer, with the status and the sentence that its visitor gets. */
export class PortError extends Error {
  readonly status: number
  readonly code: string
  /** When the same request may succeed; null: not by itself. */
  retryAfterSeconds: number | null = null
  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'PortError'
    this.status = status
    this.code = code
  }

  after(seconds: number): this {
    this.retryAfterSeconds = seconds
    return this
  }
}

/** The same for a port that does not exist and for one that the visitor may not open. */
export const notOpened = (): PortError =>
  new PortError(
    404,
    'not_published',
    'Nothing is published at this address, or this browser has not opened it by a link. Ask for a link: each one works once, and for ten minutes.',
  )
export const linkUsed = (): PortError =>
  new PortError(
    404,
    'link_used',
    'This link was used before or has expired. Ask for another one: each link works once, and for ten minutes.',
  )
export const nothingListens = (port: number): PortError =>
  new PortError(
    502,
    'nothing_listens',
    `Nothing listens on port ${port} of this sandbox. Start the program, and let it listen on 127.0.0.1 or 0.0.0.0.`,
  )
export const hibernated = (): PortError =>
  new PortError(
    503,
    'sandbox_hibernated',
    'The container of this port hibernates, and its programs have ended. Run the code that starts the program again.',
  )

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const page = (text: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Port of a sandbox</title>
<main>
<h1>This port does not answer</h1>
<p>${text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '')}</p>
</main>
</html>
`

/** Answers with a page for browsers and with JSON for programs. */
export function answerError(
  response: ServerResponse,
  { status, code, message, retryAfterSeconds }: PortError,
  { accept, policy }: { readonly accept: string | undefined; readonly policy: string },
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const isPage = accept?.includes('text/html') === true
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error'
  const body = isPage ? page(message) : JSON.stringify({ error: { message, type, code, param: null } })
  const headers = {
    'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': `default-src 'none'; ${policy}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // The body of a refused request is not read.
    connection: 'close',
  }
  if (retryAfterSeconds !== null) response.setHeader('retry-after', retryAfterSeconds)
  response.writeHead(status, headers)
  response.end(body)
}
