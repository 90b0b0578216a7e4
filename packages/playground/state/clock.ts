import { signal } from '@preact/signals'

/** The time, once a second. */
export const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 1_000)

/** Whole seconds since `startedAt`, as a person reads them. */
export function elapsedText(startedAt: number, at: number): string {
  const seconds = Math.max(0, Math.round((at - startedAt) / 1_000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
}
