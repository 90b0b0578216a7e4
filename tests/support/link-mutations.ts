/** A request that a holder of a link sends instead of the signed one. */
export interface Tampered {
  readonly name: string
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

const SIGNING = ['X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Expires', 'X-Amz-SignedHeaders', 'X-Amz-Signature'] as const
/** Unsigned values for each parameter. */
const VALUES: Readonly<Record<(typeof SIGNING)[number], readonly string[]>> = {
  'X-Amz-Algorithm': ['none', 'AWS4-HMAC-SHA1', 'AWS4-ECDSA-P256-SHA256'],
  'X-Amz-Credential': ['CBOTHER/20260101/us-east-1/s3/aws4_request', 'test', '///s3/aws4_request'],
  'X-Amz-Date': ['20991231T000000Z', '20200101T000000Z', 'yesterday', '2026-11-21T00:00:00Z'],
  'X-Amz-Expires': ['604800', '1', '0', '-1', '999999999', '300.5', 'never'],
  'X-Amz-SignedHeaders': ['accept;host', 'accept', 'host;host'],
  'X-Amz-Signature': ['0'.repeat(64), 'f'.repeat(63), 'signature'],
}
const OVERRIDES: readonly (readonly [name: string, value: string])[] = [
  ['response-content-type', 'text/html'],
  ['response-content-disposition', 'inline'],
  ['response-cache-control', 'public'],
  ['response-content-encoding', 'gzip'],
  ['response-content-language', 'de'],
  ['response-expires', 'Thu, 01 Dec 2094 16:00:00 GMT'],
]
const SUBRESOURCES = ['uploads', 'acl', 'tagging', 'torrent', 'retention', 'attributes', 'versionId=null', 'partNumber=1', 'uploadId=1']

type Change = (url: URL) => void
const set =
  (name: string, value: string): Change =>
  (url) =>
    url.searchParams.set(name, value)
const path =
  (change: (pathname: string) => string): Change =>
  (url) => {
    url.pathname = change(url.pathname)
  }
const scope =
  (part: number, value: string): Change =>
  (url) => {
    const parts = (url.searchParams.get('X-Amz-Credential') ?? '').split('/')
    url.searchParams.set('X-Amz-Credential', parts.with(part, value).join('/'))
  }
const signature =
  (change: (hex: string) => string): Change =>
  (url) =>
    url.searchParams.set('X-Amz-Signature', change(url.searchParams.get('X-Amz-Signature') ?? ''))
const flip = (hex: string, at: number): string => hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)

const CHANGES: readonly (readonly [name: string, change: Change])[] = [
  ...SIGNING.map((name) => [`without ${name}`, (url: URL) => url.searchParams.delete(name)] as const),
  ...SIGNING.map((name) => [`with an empty ${name}`, set(name, '')] as const),
  ...SIGNING.flatMap((name) => VALUES[name].map((value) => [`with ${name} ${value.slice(0, 20)}`, set(name, value)] as const)),
  ...SIGNING.map((name) => [`with a second ${name}`, (url: URL) => void (url.search += `&${name}=${VALUES[name][0]}`)] as const),
  ...[0, 31, 63].map((at) => [`with digit ${at} of its signature flipped`, signature((hex) => flip(hex, at))] as const),
  ['with its signature in capitals', signature((hex) => (/[a-f]/.test(hex) ? hex.toUpperCase() : flip(hex, 5)))],
  ['with its signature cut', signature((hex) => hex.slice(0, 32))],
  ['with its signature and a digit', signature((hex) => `${hex}0`)],
  ['of another day', scope(1, '20200101')],
  ['of another Region', scope(2, 'ap-south-2')],
  ['of another service', scope(3, 'sqs')],
  ['of another terminator', scope(4, 'aws5_request')],
  ...OVERRIDES.map(([name, value]) => [`with ${name} set`, set(name, value)] as const),
  ['without its disposition', (url) => url.searchParams.delete('response-content-disposition')],
  ['without its type', (url) => url.searchParams.delete('response-content-type')],
  ['with a second type', (url) => void (url.search += '&response-content-type=text%2Fhtml')],
  ...SUBRESOURCES.map((name) => [`for ?${name}`, (url: URL) => void (url.search += `&${name}`)] as const),
  ["for another tenant's key", path((name) => name.replace(/tnt_[^/]+\/cntr_[^/]+/, 'tnt_2/cntr_2'))],
  ['for a key below', path((name) => `${name}/more`)],
  ['for a key above', path((name) => name.slice(0, name.lastIndexOf('/')))],
  ['for its key in capitals', path((name) => name.toUpperCase())],
  ['for a key with dots', path((name) => name.replace('/files/', '/files/%252e%252e/files/'))],
  ['for a key with an empty part', path((name) => name.replace('/files/', '/files//'))],
  ['for a key with a zero byte', path((name) => `${name}%00`)],
]
const METHODS = ['PUT', 'POST', 'DELETE', 'HEAD']

/** Every misuse of a link for reading that is possible without the secret. */
export function tamper(link: string): readonly Tampered[] {
  const changed = CHANGES.map(([name, change]) => {
    const url = new URL(link)
    change(url)
    return { name, url, method: 'GET', headers: {} }
  })
  const methods = METHODS.map((method) => ({ name: `for ${method}`, url: new URL(link), method, headers: {} }))
  return [...changed, ...methods]
}
