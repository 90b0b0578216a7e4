import { signal } from '@preact/signals'
import type { Answer, Entry } from './timeline.ts'

/** Streamed text is shown this often, milliseconds. */
const PAINT_MS = 40

export const entries = signal<readonly Entry[]>([])
export const connection = signal<'open' | 'lost'>('open')
export const isBusy = signal(false)
export const isLoading = signal(false)
export const historyFailure = signal<string | null>(null)
/** Ends what runs now; null when nothing can be stopped. */
export const stopRun = signal<(() => Promise<void>) | null>(null)

let reading = new AbortController()
/** Aborts when the page leaves the chat; what runs continues on the server. */
export const leaveSignal = (): AbortSignal => reading.signal

/** Begins with an empty timeline, and ends every reading of the chat before. */
export function resetConversation(): AbortSignal {
  reading.abort()
  reading = new AbortController()
  entries.value = []
  isBusy.value = false
  stopRun.value = null
  connection.value = 'open'
  historyFailure.value = null
  return reading.signal
}

export const addEntries = (...added: readonly Entry[]): void => void (entries.value = [...entries.value, ...added])

export const setEntry = (key: string, entry: Entry): void => {
  entries.value = entries.value.map((one) => (one.key === key ? entry : one))
}

export const failAnswer = (answer: Answer, error: string): void => setEntry(answer.key, { ...answer, status: 'failed', error })

/** Draws at most every PAINT_MS, however fast text comes. */
export function paintLater(paint: () => void): { request(): void; flush(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    paint()
  }
  return { request: () => void (timer ??= setTimeout(flush, PAINT_MS)), flush }
}
