import { timingSafeEqual } from 'node:crypto'
import { S3Error } from './s3-error.ts'
import { scopeOf, signatureOf } from './sigv4.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface S3Request {
  readonly method: string
  readonly rawPath: string
  readonly rawQuery: string
  readonly query: ReadonlyMap<string, string>
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>
}

interface Claim {
  readonly accessKeyId: string
  readonly scope: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly amzDate: string
  readonly payloadHash: string
}

/** How far a clock may be off, milliseconds. */
const MAX_SKEW_MS = 15 * 60_000
/** A link may be valid for this long, seconds: seven days, as on S3. */
const MAX_EXPIRES_SECONDS = 604_800

/**
 * Throws S3Error unless the request carries a valid signature, in its headers or in its query. Returns the hash that the body must have,
 * or a word such as `UNSIGNED-PAYLOAD`.
 */
export function authenticate(
  request: S3Request,
  options: { readonly credentials: S3Credentials; readonly region: string; readonly now: number },
): string {
  const { credentials, region, now } = options
  const isPresigned = request.query.has('X-Amz-Signature')
  // A client that follows the API's redirect sends its API key along, because links lie under the API's own port: that is no signature.
  const hasHeader = request.headers.get('authorization')?.startsWith('AWS4-HMAC-SHA256') === true
  if (isPresigned && hasHeader) throw new S3Error('InvalidArgument', 'Only one way of signing is allowed: the header or the query.')
  if (!isPresigned && !hasHeader) throw new S3Error('AccessDenied', 'The request is not signed.')

  const claim = isPresigned ? readQuery(request) : readHeader(request)
  const signedAt = parseAmzDate(claim.amzDate)
  if (claim.accessKeyId !== credentials.accessKeyId) throw new S3Error('InvalidAccessKeyId', 'The access key is not known here.')
  if (claim.scope !== scopeOf(claim.amzDate, region))
    throw new S3Error('SignatureDoesNotMatch', 'The credential scope has another date, region or service.')
  refuseUnsignedHeaders(request, claim.signedHeaders)

  if (!hostsOf(request).some((host) => isSame(signatureFor(request, claim, region, host, credentials), claim.signature))) {
    throw new S3Error('SignatureDoesNotMatch', 'The signature does not match the request.')
  }

  if (isPresigned) refuseExpired(request, signedAt, now)
  else if (Math.abs(now - signedAt) > MAX_SKEW_MS)
    throw new S3Error('RequestTimeTooSkewed', 'The time of the request and the time here differ too much.')
  return claim.payloadHash
}

/** The host that the sender meant: a proxy in front may have put its own in place of it. A wrong host gains nothing, because the signature covers the host. */
function hostsOf({ headers }: S3Request): readonly string[] {
  return [headers.get('host'), headers.get('x-forwarded-host')].filter((host) => host !== undefined)
}

function signatureFor(request: S3Request, claim: Claim, region: string, host: string, credentials: S3Credentials): string {
  const headerValue = (name: string): string => (name === 'host' ? host : (request.headers.get(name) ?? ''))
  return signatureOf({ ...request, ...claim, region, headerValue }, credentials.secretAccessKey)
}

function readQuery({ query }: S3Request): Claim {
  const parameter = (name: string): string => {
    const value = query.get(name)
    if (value === undefined) throw new S3Error('AccessDenied', `The query lacks ${name}.`)
    return value
  }
  if (parameter('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') throw new S3Error('InvalidArgument', 'Only AWS4-HMAC-SHA256 is known.')
  return {
    ...splitCredential(parameter('X-Amz-Credential')),
    signedHeaders: parameter('X-Amz-SignedHeaders').split(';'),
    signature: parameter('X-Amz-Signature'),
    amzDate: parameter('X-Amz-Date'),
    payloadHash: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
  }
}

function readHeader({ headers }: S3Request): Claim {
  const parts = /^AWS4-HMAC-SHA256 Credential=([^,]+), *SignedHeaders=([^,]+), *Signature=([0-9a-f]+)$/.exec(
    headers.get('authorization') ?? '',
  )
  if (parts === null) throw new S3Error('AccessDenied', 'The Authorization header is not a Signature Version 4.')
  const [, credential = '', signedHeaders = '', signature = ''] = parts
  const payloadHash = headers.get('x-amz-content-sha256')
  if (payloadHash === undefined) throw new S3Error('InvalidRequest', 'The header x-amz-content-sha256 is missing.')
  return {
    ...splitCredential(credential),
    signedHeaders: signedHeaders.split(';'),
    signature,
    amzDate: headers.get('x-amz-date') ?? '',
    payloadHash,
  }
}

function splitCredential(credential: string): Pick<Claim, 'accessKeyId' | 'scope'> {
  const slash = credential.indexOf('/')
  return { accessKeyId: credential.slice(0, slash), scope: credential.slice(slash + 1) }
}

function parseAmzDate(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (parts === null) throw new S3Error('AccessDenied', 'The date of the signature is missing or malformed.')
  const [, year, month, day, hour, minute, second] = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** A header that changes what S3 does counts only if the signer meant it. */
function refuseUnsignedHeaders({ headers }: S3Request, signedHeaders: readonly string[]): void {
  if (!signedHeaders.includes('host')) throw new S3Error('AccessDenied', 'The host is not signed.')
  for (const name of headers.keys()) {
    if (name.startsWith('x-amz-') && !signedHeaders.includes(name)) throw new S3Error('AccessDenied', `The header ${name} is not signed.`)
  }
}

function refuseExpired({ query }: S3Request, signedAt: number, now: number): void {
  const expires = query.get('X-Amz-Expires') ?? ''
  const seconds = /^\d{1,7}$/.test(expires) ? Number(expires) : Number.NaN
  if (!(seconds >= 1 && seconds <= MAX_EXPIRES_SECONDS))
    throw new S3Error('AccessDenied', 'X-Amz-Expires has to be between 1 and 604800 seconds.')
  if (signedAt - now > MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not valid yet')
  if (now > signedAt + seconds * 1000) throw new S3Error('AccessDenied', 'Request has expired')
}

/** In constant time: how much of a forged signature is right must not show. */
function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
