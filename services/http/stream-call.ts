import { ServiceError } from '../model/errors.ts'
import { keepTrace } from '../model/trace.ts'
import type { Call } from './route.ts'
import { sseResponse, type StreamOutcome } from './sse.ts'

/** Interval at which an open stream checks its key, milliseconds; shorter where keys are cached for less. */
const KEY_CHECK_MS = 5_000
const MIN_KEY_CHECK_MS = 100

/**
 * Answers a call with a stream of frames. The stream ends when the reader disconnects, when its key is revoked, when its hold is over, or at the maximum time of a connection;
 * then the reader resumes. Emits one wide event at the end. `open` runs when the tenant may open a stream, and accepts the work; otherwise the
 * call is refused before it has any effect.
 */
export async function streamCall(
  call: Call,
  open: () => Promise<(signal: AbortSignal) => AsyncGenerator<string | Uint8Array, void, undefined>>,
  headers?: Readonly<Record<string, string>>,
): Promise<Response> {
  const { deps, caller, requestId } = call
  const hold = await deps.holds.take(caller.tenant, 'stream')
  const frames = await open().catch(async (error: unknown) => {
    await hold.release()
    throw error
  })
  const startedAt = performance.now()
  const stop = new AbortController()
  const inTrace = keepTrace()
  const held = setTimeout(() => stop.abort(), deps.config.maxHoldSeconds * 1000)
  hold.signal?.addEventListener('abort', () => stop.abort(), { once: true })
  const checking = setInterval(
    () => {
      // A failed read of the key does not end the stream.
      call.authenticate().catch((error: unknown) => error instanceof ServiceError && stop.abort())
    },
    Math.max(MIN_KEY_CHECK_MS, Math.min(KEY_CHECK_MS, deps.config.keyCacheMs)),
  )
  stop.signal.addEventListener('abort', () => clearInterval(checking), { once: true })
  const onEnd = async (outcome: StreamOutcome, count: number): Promise<void> => {
    clearTimeout(held)
    clearInterval(checking)
    inTrace(() =>
      deps.telemetry.emit({
        event: 'http.stream',
        outcome,
        request_id: requestId,
        tenant: caller.tenant,
        key_id: caller.keyId,
        frames: count,
        duration_ms: Math.round(performance.now() - startedAt),
      }),
    )
    await hold.release()
  }
  return sseResponse(frames(stop.signal), { stop, onEnd, headers })
}
