import type { Call } from './route.ts'
import { sseResponse } from './sse.ts'

/**
 * Answers a call with a stream of frames that ends with the reader, or when the process may hold a connection no longer: then the reader
 * resumes. Emits one wide event at the end.
 */
export function streamCall(call: Call, frames: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>): Response {
  const { deps, caller, requestId } = call
  const startedAt = performance.now()
  const stop = new AbortController()
  const held = setTimeout(() => stop.abort(), deps.config.maxHoldSeconds * 1000)
  return sseResponse(frames(stop.signal), stop, (outcome, count) => {
    clearTimeout(held)
    deps.telemetry.emit({
      event: 'http.stream',
      outcome,
      request_id: requestId,
      tenant: caller.tenant,
      frames: count,
      duration_ms: Math.round(performance.now() - startedAt),
    })
  })
}
