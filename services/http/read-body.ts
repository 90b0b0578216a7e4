import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../model/errors.ts'
import { BodyProgress } from './body-progress.ts'
import type { ByteLease } from './connection-budget.ts'

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

/** The client closed the connection before its request was complete or could begin. No answer reaches it. */
export class ClientLeftError extends Error {
  constructor(cause?: unknown) {
    super('The client closed the connection before its request was complete or could begin.', { cause })
    this.name = 'ClientLeftError'
  }
}

/** How the body of a request arrives. */
export interface Intake {
  /** Counts the bytes of the body. */
  readonly lease: ByteLease
  /** Node's request, which is faster to read than its web stream; null where the body does not come over a connection of this process. */
  readonly incoming: IncomingMessage | null
  /** See BodyProgress. */
  readonly stallMs: number
}

const intakes = new WeakMap<Request, Intake>()

/** Every read of this request's body is counted and timed from now on. A request cannot name its own connection. */
export const bindIntake = (request: Request, intake: Intake): void => void intakes.set(request, intake)

/** So many chunks are joined at once: a body that comes byte by byte would otherwise take a hundred times its size. */
const MAX_LOOSE_CHUNKS = 256

type Chunks = AsyncIterator<Uint8Array, unknown>

function chunksOf(request: Request, incoming: IncomingMessage | null): Chunks | null {
  if (incoming !== null && !incoming.readableDidRead && !request.bodyUsed)
    // A body that is refused halfway leaves the connection open, so that the client gets the refusal.
    return incoming.iterator({ destroyOnReturn: false }) as Chunks
  return request.body === null ? null : (request.body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
}

/** The chunks of a body; each one is counted before it is passed on. Throws ServiceError `request_too_large` at the first byte above `maxBytes`. */
async function* arrivingChunks(request: Request, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  const intake = intakes.get(request)
  const chunks = chunksOf(request, intake?.incoming ?? null)
  if (chunks === null) return
  const progress = intake === undefined ? null : new BodyProgress(intake.stallMs)
  let bytes = 0
  try {
    for (;;) {
      const next = chunks.next()
      const { done, value } = await (progress === null ? next : progress.watch(next)).catch((error: unknown) => {
        throw error instanceof ServiceError ? error : new ClientLeftError(error)
      })
      if (done === true) return
      bytes += value.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      intake?.lease.add(value.byteLength)
      yield value
    }
  } finally {
    // Not awaited: it waits for a chunk that may never come.
    chunks.return?.().catch(() => undefined)
  }
}

/** The body as it arrives, for a reader that passes it on: a chunk counts until the next one is requested. */
export async function* bodyUpTo(request: Request, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  const lease = intakes.get(request)?.lease
  const before = lease?.bytes ?? 0
  for await (const chunk of arrivingChunks(request, maxBytes))
    try {
      yield chunk
    } finally {
      lease?.set(before)
    }
}

/** The body as it arrives, for a reader that keeps it: its bytes count until the request has been answered. */
export const keptBody = arrivingChunks

/** Reads at most `maxBytes`. Throws ServiceError `request_too_large`, `request_timeout` or `too_many_request_bytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  refuseAnnounced(request, maxBytes)
  const whole: Uint8Array[] = []
  let latest: Uint8Array[] = []
  for await (const chunk of arrivingChunks(request, maxBytes)) {
    latest.push(chunk)
    if (latest.length < MAX_LOOSE_CHUNKS) continue
    whole.push(Buffer.concat(latest))
    latest = []
  }
  const [first, ...others] = [...whole, ...latest]
  return others.length === 0 && first !== undefined ? first : new Uint8Array(Buffer.concat([...whole, ...latest]))
}
