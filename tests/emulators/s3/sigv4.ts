import { createHash, createHmac } from 'node:crypto'

/** What a Signature Version 4 covers. Source: AWS, "Signing and authenticating REST requests", the S3 variant: paths are encoded once. */
export interface SignedParts {
  readonly method: string
  /** As it came, percent-encoded, without the query. */
  readonly rawPath: string
  readonly rawQuery: string
  /** Lower-case names of the headers that are signed, sorted. */
  readonly signedHeaders: readonly string[]
  readonly headerValue: (name: string) => string
  readonly payloadHash: string
  /** `YYYYMMDD'T'HHMMSS'Z'` */
  readonly amzDate: string
  readonly region: string
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

export const scopeOf = (amzDate: string, region: string): string => `${amzDate.slice(0, 8)}/${region}/s3/aws4_request`

/** The signature as hexadecimal text. Throws URIError when path or query are no valid percent-encoding. */
export function signatureOf(parts: SignedParts, secretAccessKey: string): string {
  const stringToSign = ['AWS4-HMAC-SHA256', parts.amzDate, scopeOf(parts.amzDate, parts.region), sha256(canonicalRequest(parts))].join('\n')
  const dateKey = hmac(`AWS4${secretAccessKey}`, parts.amzDate.slice(0, 8))
  const signingKey = hmac(hmac(hmac(dateKey, parts.region), 's3'), 'aws4_request')
  return hmac(signingKey, stringToSign).toString('hex')
}

function canonicalRequest(parts: SignedParts): string {
  const headers = parts.signedHeaders.map((name) => `${name}:${parts.headerValue(name).trim().replace(/ +/g, ' ')}\n`)
  return [
    parts.method,
    canonicalPath(parts.rawPath),
    canonicalQuery(parts.rawQuery),
    headers.join(''),
    parts.signedHeaders.join(';'),
    parts.payloadHash,
  ].join('\n')
}

const canonicalPath = (rawPath: string): string =>
  rawPath
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/')

function canonicalQuery(rawQuery: string): string {
  return queryPairs(rawQuery)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Names and values of a query in their order, repeated ones included. */
export function queryPairs(rawQuery: string): readonly (readonly [string, string])[] {
  return rawQuery
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))] as const
    })
}
