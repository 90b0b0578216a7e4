import { signal, type Signal } from '@preact/signals'
import { call, messageOf, send } from '../api/call.ts'
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
  read(id).then(
    (execution) => (made.value = execution),
    (error: unknown) => {
      made.value = { failure: messageOf(error) }
      // The next view of it reads again.
      loaded.delete(id)
    },
  )
  return made
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
