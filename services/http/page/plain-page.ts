const STYLE =
  ':root{color-scheme:light dark;background:Canvas}body{font:16px/1.6 system-ui,sans-serif;max-width:640px;margin:24px auto;padding:0 20px}nav a{margin-right:16px}h1{font-size:24px}code{font-size:.92em}dt{font-weight:600;margin-top:14px}dd{margin:0}'

/** The policy of a page without scripts and pictures. */
export const PLAIN_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const

/** The parts of the server, as the bar of the page has them. */
const NAVIGATION = '<nav aria-label="Cellblock"><a href="/">Chat</a><a href="/docs/guide/">Guide</a><a href="/docs">API reference</a></nav>'

/** A page of text. `title` and `body` are markup of this program. */
export const plainPage = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style><body>${NAVIGATION}<main>${body}</main></body></html>`
