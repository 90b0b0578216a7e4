/** Values by names in lower case. */
export type HeaderFields = Record<string, string[]>

/** The head of a message, as Node's parser has it. */
interface MessageHead {
  readonly rawHeaders: readonly string[]
  readonly headers: { readonly connection?: string | undefined }
}

/** They concern one connection. A proxy has its own on each side, without trailers. */
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

/** Fields of a message with repetitions, without those of the connection. A request or answer without length is chunked again. */
export function forwardedHeaders({ rawHeaders, headers }: MessageHead): HeaderFields {
  const named = new Set(
    (headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  const forwarded: HeaderFields = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (HOP_BY_HOP.has(name) || (named.has(name) && name !== 'content-length' && name !== 'transfer-encoding')) continue
    ;(forwarded[name] ??= []).push(rawHeaders[at + 1] ?? '')
  }
  return forwarded
}
