import { setTimeout as delay } from 'node:timers/promises'

/** What `promise` resolves to. Rejects after `ms`, so that the test fails by what it waits for and not by its own time limit. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = delay(ms, null, { signal: over.signal }).then(() => {
    throw new Error(`${what} did not come within ${ms} ms`)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
    late.catch(() => undefined)
  }
}
