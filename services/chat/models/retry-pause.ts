type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A time that an endpoint names is believed up to this, milliseconds. */
const LONGEST_NAMED_MS = 60_000
const FIRST_MS = 500
const LONGEST_MS = 8_000

/** Whether the endpoint may answer the same request later. `x-should-retry` is how some say it themselves. */
export function isRetryable(status: number, headers: Headers): boolean {
  const said = headers['x-should-retry']
  if (said === 'true' || said === 'false') return said === 'true'
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/** How long to wait before the next try, milliseconds: as long as the endpoint says, else longer each time. `tries` counts those that failed, from 1. */
export function retryPause(headers: Headers, tries: number, now: number): number {
  const named = namedMs(headers, now)
  if (named !== null && named >= 0 && named <= LONGEST_NAMED_MS) return named
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** (tries - 1)) * (1 - Math.random() / 4)
}

function namedMs(headers: Headers, now: number): number | null {
  const ms = Number.parseFloat(String(headers['retry-after-ms']))
  if (!Number.isNaN(ms)) return ms
  const after = headers['retry-after']
  if (typeof after !== 'string') return null
  const seconds = Number(after)
  const named = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1000
  return Number.isNaN(named) ? null : named
}
