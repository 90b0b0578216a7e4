import type { ApiClient } from './api-client.ts'
import { CliError, EXIT } from './errors.ts'
import type { Io } from './io.ts'
import type { ServerEvent } from './server-events.ts'
import { showEvent, type EventSink } from './show-event.ts'

/** A broken stream is resumed after the last received event, this many times in a row. */
const MAX_RESUMES = 5

const EXIT_CODES: Readonly<Record<string, number>> = {
  succeeded: EXIT.ok,
  failed: EXIT.codeFailed,
  timed_out: EXIT.timedOut,
  cancelled: EXIT.cancelled,
}

/** Exit code of an execution as the API answers it: that of its status, or N after `sys.exit(N)`. */
export function exitCodeOf(execution: Readonly<Record<string, unknown>>): number {
  const error = execution['error'] as { readonly name?: string; readonly value?: string } | null | undefined
  const code = error?.name === 'SystemExit' ? Number(error.value) : Number.NaN
  return Number.isInteger(code) && code > 0 && code < 256 ? code : (EXIT_CODES[String(execution['status'])] ?? EXIT.codeFailed)
}

/** Prints the events of an execution until its end. Ctrl-C cancels the execution. Throws CliError if the stream keeps breaking. */
export async function followExecution(api: ApiClient, id: string, io: EventSink & Pick<Io, 'signal'>): Promise<void> {
  const cancel = (): void => void api.call('POST', `/v1/executions/${id}/cancel`).catch((error: unknown) => io.note(`${String(error)}\n`))
  if (io.signal.aborted) cancel()
  io.signal.addEventListener('abort', cancel, { once: true })
  try {
    for await (const { event, data } of eventsOf(api, id)) showEvent(event, data, io)
  } finally {
    io.signal.removeEventListener('abort', cancel)
  }
}

/**
 * The events of an execution from its beginning to `done`. A broken stream is resumed. Ends early when `signal` aborts. Throws CliError if the
 * stream keeps breaking.
 */
export async function* eventsOf(api: ApiClient, id: string, signal?: AbortSignal): AsyncGenerator<ServerEvent, void, undefined> {
  let after = -1
  for (let resumes = 0; resumes < MAX_RESUMES; resumes++) {
    try {
      for await (const event of api.events(`/v1/executions/${id}/events?after=${after}`, undefined, signal)) {
        after = event.id
        resumes = 0
        yield event
        if (event.event === 'done') return
      }
    } catch (error) {
      if (error instanceof CliError) throw error
    }
    if (signal?.aborted) return
  }
  throw new CliError(`The event stream of ${id} broke ${MAX_RESUMES} times. Read its result with GET /v1/executions/${id}.`)
}
