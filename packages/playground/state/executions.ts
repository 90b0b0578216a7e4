import { signal, type Signal } from '@preact/signals'
import { ApiError, call, messageOf, send } from '../api/call.ts'
import { readEvents } from '../api/read-events.ts'
import type { Execution, Output } from '../api/types.ts'
import { sharedToken } from '../session.ts'

/** `loading`, the execution, or why it could not be read. */
export type LoadedExecution = 'loading' | Execution | { readonly failure: string }

let addressOf = (id: string): string => `/v1/executions/${id}?inline=all`
/** For a shared chat, whose executions have other addresses. */
export const readExecutionsFrom = (address: (id: string) => string): void => void (addressOf = address)

const MAX_KEPT = 500
const loaded = new Map<string, Signal<LoadedExecution>>()

/** The result of an ended execution, read once and then kept. */
export function executionSignal(id: string): Signal<LoadedExecution> {
  // The list is bounded: what was shown long ago is read again.
  if (loaded.size > MAX_KEPT) loaded.clear()
  const known = loaded.get(id)
  if (known !== undefined) return known
  const made = signal<LoadedExecution>('loading')
  loaded.set(id, made)
  readWithRetries(id).then(
    (execution) => (made.value = execution),
    (error: unknown) => {
      made.value = { failure: messageOf(error) }
      // The next view of it reads again.
      loaded.delete(id)
    },
  )
  return made
}

/** A chat of many cells asks for all their results at once, which a busy server may refuse for a moment. */
const RETRIES = 4
const FIRST_WAIT_MS = 500

async function readWithRetries(id: string): Promise<Execution> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await read(id)
    } catch (error) {
      if (attempt === RETRIES || !(error instanceof ApiError) || (error.status !== 429 && error.status !== 503)) throw error
      await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** attempt))
    }
  }
}

/** Code whose sandbox was lost has no result; its events have what it had printed. */
async function read(id: string): Promise<Execution> {
  const execution = await call<Execution>(addressOf(id))
  if (sharedToken !== null || execution.reason !== 'sandbox_lost' || (execution.outputs ?? []).length > 0) return execution
  const outputs: Output[] = []
  await readEvents(await send(`/v1/executions/${id}/events?after=-1`, { headers: { accept: 'text/event-stream' } }), ({ event, data }) => {
    const { text } = JSON.parse(data) as { readonly text?: string }
    if ((event === 'stdout' || event === 'stderr') && text !== undefined) outputs.push({ output_type: 'stream', name: event, text })
  }).catch(() => undefined)
  return { ...execution, outputs }
}
