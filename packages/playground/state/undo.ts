import { signal } from '@preact/signals'

/** How long an action can be undone, milliseconds. */
const UNDO_MS = 8_000

interface Pending {
  readonly text: string
  readonly commit: () => void
  readonly restore: () => void
}

/** What was just done and can still be undone. */
export const pending = signal<Pending | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** Does `commit` after a while, or when the page closes, unless the person undoes it before. Another action commits the one before it. */
export function doLater(action: Pending): void {
  settle('commit')
  pending.value = action
  timer = setTimeout(() => settle('commit'), UNDO_MS)
}

export function settle(how: 'commit' | 'restore'): void {
  clearTimeout(timer)
  const action = pending.value
  pending.value = null
  action?.[how]()
}

addEventListener('pagehide', () => settle('commit'))
