import { signal, type Signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { Execution } from '../api/types.ts'

/** `loading`, the execution, or why it could not be read. */
export type LoadedExecution = 'loading' | Execution | { readonly failure: string }

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
  call<Execution>(`/v1/executions/${id}?inline=all`).then(
    (execution) => (made.value = execution),
    (error: unknown) => {
      made.value = { failure: messageOf(error) }
      // The next view of it reads again.
      loaded.delete(id)
    },
  )
  return made
}
