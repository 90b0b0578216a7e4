import { ApiError, send } from '../api/call.ts'
import { readEvents, type ServerEvent } from '../api/read-events.ts'

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 8_000

interface Follow {
  /** The address that streams what follows the events received so far. */
  readonly address: () => string
  /** True once the last event has come. */
  readonly hasEnded: () => boolean
  readonly onEvent: (event: ServerEvent) => void
  readonly onConnection: (state: 'open' | 'lost') => void
  readonly signal: AbortSignal
}

/**
 * Follows a resumable stream to its last event, through broken connections and restarts of the server. Throws ApiError when the server refuses,
 * and an AbortError when `signal` aborts.
 */
export async function followEvents({ address, hasEnded, onEvent, onConnection, signal }: Follow): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!hasEnded()) {
    try {
      const response = await send(address(), { signal, headers: { accept: 'text/event-stream' } })
      onConnection('open')
      await readEvents(response, (event) => {
        waitMs = FIRST_WAIT_MS
        onEvent(event)
      })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error
    }
    if (hasEnded()) return
    signal.throwIfAborted()
    onConnection('lost')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
}
