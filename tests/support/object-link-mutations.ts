/** A request that a holder of a link sends instead of the signed one. */
export interface TamperedRequest {
  readonly name: string
  readonly url: string
  readonly method: string
}

type Claims = Record<string, unknown>
const encode = (text: string): string => Buffer.from(text).toString('base64url')
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Another character at this place: its neighbour in the alphabet, which differs in the lowest bit only. */
const neighbour = (text: string, at: number): string =>
  text.slice(0, at) + (ALPHABET[ALPHABET.indexOf(text[at] ?? 'A') ^ 1] ?? 'A') + text.slice(at + 1)

const CLAIM_CHANGES: readonly (readonly [name: string, change: (claims: Claims) => Claims])[] = [
  ...[
    'tenants/tnt_2/cntr_2/files/abc',
    'tenants/tnt_1/cntr_1/files/',
    'tenants/tnt_1/cntr_1',
    '',
    '../rows.sqlite',
    '/etc/passwd',
    'tenants/tnt_1/cntr_1/files/abc\0',
    'TENANTS/TNT_1/CNTR_1/FILES/ABC',
    'tenants/tnt_1/cntr_1/files/./abc',
    'tenants/tnt_1//cntr_1/files/abc',
    null,
    1,
    ['tenants/tnt_2/cntr_2/files/abc'],
    {},
  ].map((key) => [`with the key ${JSON.stringify(key)}`, (claims: Claims): Claims => ({ ...claims, key })] as const),
  ...['PUT', 'DELETE', 'POST', 'HEAD', 'get', '', null].map(
    (method) => [`with the method ${JSON.stringify(method)} signed over`, (claims: Claims): Claims => ({ ...claims, method })] as const,
  ),
  ...[1, 1_000, 300_000, 604_800_000, Number.MAX_SAFE_INTEGER].map(
    (more) => [`with ${more} ms more`, (claims: Claims): Claims => ({ ...claims, expiresAt: Number(claims['expiresAt']) + more })] as const,
  ),
  ...[null, 'never', '9e99', -1, 1e308].map(
    (expiresAt) => [`with the expiry ${JSON.stringify(expiresAt)}`, (claims: Claims): Claims => ({ ...claims, expiresAt })] as const,
  ),
  ...['text/html', 'image/svg+xml', 'application/javascript', ''].map(
    (contentType) => [`with the type ${JSON.stringify(contentType)}`, (claims: Claims): Claims => ({ ...claims, contentType })] as const,
  ),
  ...['inline', '', 'attachment; filename="evil.html"'].map(
    (disposition) =>
      [`with the disposition ${JSON.stringify(disposition)}`, (claims: Claims): Claims => ({ ...claims, disposition })] as const,
  ),
  ['with a claim more', (claims) => ({ ...claims, bytes: 1 })],
  ['with its claims in another order', (claims) => Object.fromEntries(Object.entries(claims).toReversed())],
]

/** Every change of a link for reading that its holder can make without the secret. */
export function tamperObjectLink(link: string): readonly TamperedRequest[] {
  const url = new URL(link)
  const path = url.pathname.slice(0, url.pathname.lastIndexOf('/') + 1)
  const token = url.pathname.slice(path.length)
  const [payload = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims
  const get = (name: string, rest: string): TamperedRequest => ({ name, url: `${url.origin}${path}${rest}`, method: 'GET' })
  return [
    ...CLAIM_CHANGES.map(([name, change]) => get(name, `${encode(JSON.stringify(change(claims)))}.${signature}`)),
    ...[0, 21, 42].map((at) => get(`with character ${at} of its signature changed`, `${payload}.${neighbour(signature, at)}`)),
    ...[0, 10, payload.length - 1].map((at) =>
      get(`with character ${at} of its payload changed`, `${neighbour(payload, at)}.${signature}`),
    ),
    get('without its signature', payload),
    get('with an empty signature', `${payload}.`),
    get('with half of its signature', `${payload}.${signature.slice(0, 21)}`),
    get('with a longer signature', `${payload}.${signature}A`),
    get('with its signature twice', `${payload}.${signature}.${signature}`),
    get('with padding', `${payload}.${signature}=`),
    get('with a signature of zeros', `${payload}.${'A'.repeat(43)}`),
    get('with the algorithm none', `${encode('{"alg":"none"}')}.${payload}.`),
    get('with an empty payload', `.${signature}`),
    get('with its parts exchanged', `${signature}.${payload}`),
    get('with a query', `${token}?response-content-type=text%2Fhtml`),
    get('with an empty query', `${token}?`),
    get('with a path below', `${token}/more`),
    get('with a slash', `${token}/`),
    get('with a zero byte', `${token}%00`),
    get('with a percent-encoded dot', token.replace('.', '%2E')),
    get('with a dot segment encoded', `%2e%2e/${token}`),
    get('with a plain key', String(claims['key'])),
    get('with nothing', ''),
    ...['PUT', 'POST', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'].map((method) => ({ name: `for ${method}`, url: link, method })),
  ]
}
