import { gzipSync } from 'node:zlib'

/** What is sent instead of an answer without a body. */
export interface SubstituteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

const NEWLINE = new TextEncoder().encode('\n')
const EMPTY_OBJECT = new TextEncoder().encode('{}')
/** 20 bytes that a client decodes to none. */
const GZIP_OF_NOTHING = Uint8Array.from(gzipSync(new Uint8Array()))

/**
 * Streaming function URLs never end an answer without a byte in many accounts: the client waits until the distribution gives up, and the function is
 * billed until its time-out. So every answer gets bytes that its readers ignore. A status that permits no body becomes 200 with an empty JSON object,
 * which clients of another product accept like their 204; they would fail to parse a newline. An empty file is sent in gzip, so that it stays empty.
 */
export function substituteEmptyAnswer(request: Request, status: number): SubstituteAnswer {
  if (status === 204 || status === 205) return { status: 200, headers: { 'content-type': 'application/json' }, bytes: EMPTY_OBJECT }
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(request.headers.get('accept-encoding') ?? '')
  if (request.method === 'GET' && status === 200 && acceptsGzip)
    return { status, headers: { 'content-encoding': 'gzip' }, bytes: GZIP_OF_NOTHING }
  return { status, headers: {}, bytes: NEWLINE }
}
