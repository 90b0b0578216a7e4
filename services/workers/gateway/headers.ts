import type { IncomingMessage } from 'node:http'
import type { Headers } from './secrets.ts'

/** They concern one connection. The gateway has its own on each side, without upgrades and trailers. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

/** With them a server would treat an allowed method as another one. */
export const METHOD_OVERRIDES: readonly string[] = ['x-http-method', 'x-http-method-override', 'x-method-override']

/** Fields of a message with repetitions, without those of the connection. A request or answer without length is chunked again. */
export function forwardedHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): Headers {
  const named = new Set(
    (headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  const forwarded: Headers = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (HOP_BY_HOP.has(name) || (named.has(name) && name !== 'content-length' && name !== 'transfer-encoding')) continue
    ;(forwarded[name] ??= []).push(rawHeaders[at + 1] ?? '')
  }
  return forwarded
}

/** Values of a field, with repetitions, as they were sent. */
export const valuesOf = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)

/** Size of a head on the wire, about. */
export const headBytes = (headers: Headers): number =>
  Object.entries(headers).reduce((sum, [name, values]) => sum + values.reduce((own, value) => own + name.length + value.length + 4, 0), 64)
