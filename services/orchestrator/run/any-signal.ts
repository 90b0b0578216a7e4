/**
 * A signal that aborts with the first of these, for signals that live no longer than it. `AbortSignal.any` is tied together by weak references, and
 * those the collector follows only when it goes through everything: what each execution left there had it do so, with a pause, twice as often.
 */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const first = new AbortController()
  for (const signal of signals) {
    if (signal.aborted) first.abort(signal.reason)
    else signal.addEventListener('abort', () => first.abort(signal.reason), { once: true })
  }
  return first.signal
}
