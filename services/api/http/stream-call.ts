import { ServiceError } from '../../core/errors.ts'
import { keepTrace } from '../../core/trace.ts'
import type { Call } from './route.ts'
import { sseResponse } from './sse.ts'

/** An open stream checks its key this often, milliseconds; more often where keys are cached for less. */
const KEY_CHECK_MS = 5_000
const MIN_KEY_CHECK_MS = 100

/**
 * Answers a call with a stream of frames that ends with the reader, with its key, or when the process may hold a connection no longer: then the reader
 * resumes. Emits one wide event at the end. `open` does what comes first (accepts the work to follow) once a stream is free: where none is, the
 * call is refused before anything was done.
 */
export async function streamCall(
  call: Call,
  open: () => Promise<(signal: AbortSignal) => AsyncGenerator<string, void, undefined>>,
): Promise<Response> {
  const { deps, caller, requestId } = call
  const leave = deps.streams.take(caller.tenant, (await deps.limits.of(caller.tenant)).openStreams)
  const frames = await open().catch((error: unknown) => {
    leave()
    throw error
  })
  const startedAt = performance.now()
  const stop = new AbortController()
  const inTrace = keepTrace()
  const held = setTimeout(() => stop.abort(), deps.config.maxHoldSeconds * 1000)
  const checking = setInterval(
    () => {
      // A failed read of the key ends nothing.
      call.authenticate().catch((error: unknown) => error instanceof ServiceError && stop.abort())
    },
    Math.max(MIN_KEY_CHECK_MS, Math.min(KEY_CHECK_MS, deps.config.keyCacheMs)),
  )
  stop.signal.addEventListener('abort', () => clearInterval(checking), { once: true })
  return sseResponse(frames(stop.signal), stop, (outcome, count) => {
    clearTimeout(held)
    clearInterval(checking)
    leave()
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
  })
}
