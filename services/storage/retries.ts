import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

type RetryStrategy = Extract<NonNullable<DynamoDBClientConfig['retryStrategy']>, { readonly acquireInitialRetryToken: unknown }>
type Token = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>

/** Of ten attempts that fail with a probability of 30 % each, all ten fail once in 170,000 calls. */
const ATTEMPTS = 10
/** The first pause, and the longest one, milliseconds. Each is a random part of twice the one before, so that callers do not come back together. */
const PAUSES = { TRANSIENT: { first: 25, longest: 1_000 }, THROTTLING: { first: 100, longest: 2_000 } } as const
/** Attempts that may fail beyond those that succeed, over all calls of a client, before none is made again. */
const RESERVE = 500

/**
 * When a call to AWS is made again. The SDK's own strategy stops doing so for everybody when more than a few calls of a hundred fail. Here a call that is given up
 * costs its whole step, about fifteen calls and a pause, so calls are made again as long as every second attempt gets through; when fewer
 * do, as in an outage, calls fail at once and the rows wait for their leases. One per client.
 */
export function createRetries(random: () => number = Math.random): RetryStrategy {
  let reserve = RESERVE
  const token = (count: number, delay: number): Token => ({ getRetryCount: () => count, getRetryDelay: () => delay })
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    async refreshRetryTokenForRetry(last, { errorType, error }) {
      if (errorType !== 'TRANSIENT' && errorType !== 'THROTTLING') throw error ?? new Error('This fault is no passing one')
      reserve = Math.max(0, reserve - 1)
      const count = last.getRetryCount()
      if (reserve === 0 || count + 1 >= ATTEMPTS) throw error ?? new Error('It failed too often')
      const { first, longest } = PAUSES[errorType]
      return token(count + 1, Math.floor(random() * Math.min(longest, first * 2 ** count)))
    },
    recordSuccess: () => {
      reserve = Math.min(RESERVE, reserve + 1)
    },
  }
}
