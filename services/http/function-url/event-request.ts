import { hasDotSegments } from '../dot-segments.ts'

/** The part of a function URL's event (payload format 2.0) that the API reads. */
export interface FunctionUrlEvent {
  readonly rawPath: string
  readonly rawQueryString?: string
  /** Values of a repeated header are joined with commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies?: readonly string[]
  readonly requestContext: { readonly domainName?: string; readonly http: { readonly method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/** The request of an event. Throws a TypeError when HTTP does not permit a part of it, and for a path with dot segments. */
export function requestFromEvent(event: FunctionUrlEvent): Request {
  if (hasDotSegments(event.rawPath)) throw new TypeError('The path has a dot segment.')
  const { method } = event.requestContext.http
  const query = event.rawQueryString ? `?${event.rawQueryString}` : ''
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined && value !== '') headers.set(name, asAscii(value))
  if (event.cookies !== undefined) headers.set('cookie', event.cookies.join('; '))
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(event)
  if (body !== undefined) headers.set('content-length', String(body.length))
  // An emulated account names no domain.
  const host = event.requestContext.domainName ?? headers.get('host') ?? 'localhost'
  return new Request(`https://${host}${event.rawPath}${query}`, { method, headers, ...(body && { body }) })
}

function bodyOf({ body, isBase64Encoded }: FunctionUrlEvent): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || body === '') return undefined
  return Uint8Array.from(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
}

/** A header of a Request takes no other characters. */
const asAscii = (value: string): string => (/^[\x20-\x7e\t]*$/.test(value) ? value : encodeURIComponent(value))
