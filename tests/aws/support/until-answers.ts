import { setTimeout as delay } from 'node:timers/promises'

const MAX_WAIT_MS = 20_000

/** Rejects when the server does not answer 200 within 20 s. */
export async function untilAnswers(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const until = Date.now() + MAX_WAIT_MS
  for (;;) {
    const isUp = await fetch(url, { headers }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    if (Date.now() > until) throw new Error(`Nothing answers at ${url}.`)
    await delay(100)
  }
}
