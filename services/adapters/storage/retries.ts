import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

type RetryStrategy = Extract<NonNullable<DynamoDBClientConfig['retryStrategy']>, { readonly acquireInitialRetryToken: unknown }>
type Token = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>

/** If each attempt fails with a probability of 30 %, all ten attempts of a call fail once in 170,000 calls. */
const ATTEMPTS = 10
/** The first and the maximum pause, milliseconds. Each pause is a random part of twice the previous one, so that clients do not retry at the same time. */
const PAUSES = { TRANSIENT: { first: 25, longest: 1_000 }, THROTTLING: { first: 100, longest: 2_000 } } as const
/** Failed attempts beyond the successful ones, over all calls of a client, before retries stop. */
const RESERVE = 500

/**
 * Storage clients retry up to ten times per call. A shared retry budget stops retries during an outage: a failed attempt takes one unit, a
 * successful one returns one, so a client retries while at least half of its attempts succeed. One strategy per client.
 */
export function createRetries(random: () => number = Math.random): RetryStrategy {
  let reserve = RESERVE
  const token = (count: number, delay: number): Token => ({ getRetryCount: () => count, getRetryDelay: () => delay })
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    async refreshRetryTokenForRetry(last, { errorType, error }) {
      if (errorType !== 'TRANSIENT' && errorType !== 'THROTTLING') throw error ?? new Error('The call failed and a retry would fail too.')
      reserve = Math.max(0, reserve - 1)
      const count = last.getRetryCount()
      if (reserve === 0 || count + 1 >= ATTEMPTS) throw error ?? new Error('The call failed in every attempt.')
      const { first, longest } = PAUSES[errorType]
      return token(count + 1, Math.floor(random() * Math.min(longest, first * 2 ** count)))
    },
    recordSuccess: () => {
      reserve = Math.min(RESERVE, reserve + 1)
    },
  }
}
