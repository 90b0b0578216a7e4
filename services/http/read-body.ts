import { ServiceError } from '../model/errors.ts'

/** Refuses compressed bodies, because the API does not decompress. */
export function refuseEncoded(request: Request): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Compressed request bodies are not accepted. Send the body without Content-Encoding.')
}

export const mediaType = (request: Request): string =>
  (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const tooLarge = (maxBytes: number): ServiceError =>
  new ServiceError(
    'request_too_large',
    `The request body is larger than ${maxBytes} bytes. Send less, or upload files with POST /v1/containers/{container_id}/files/upload_url.`,
  )

/** Refuses by the announced length, before a byte is read. */
export function refuseAnnounced(request: Request, maxBytes: number): void {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The body as it arrives; throws ServiceError `request_too_large` at the first byte above `maxBytes`. */
export async function* bodyUpTo(request: Request, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (request.body === null) return
  let bytes = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    yield chunk
  }
}

/** Reads at most `maxBytes`; throws ServiceError `request_too_large` at the first byte above it. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  refuseAnnounced(request, maxBytes)
  // With an announced length the transport itself cuts the body off there. This check comes first, because reading `body` creates a web stream.
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  for await (const chunk of bodyUpTo(request, maxBytes)) chunks.push(chunk)
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : new Uint8Array(Buffer.concat(chunks))
}
