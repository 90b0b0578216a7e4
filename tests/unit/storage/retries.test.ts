import { describe, expect, it } from 'vitest'
import { createRetries } from '../../../services/adapters/storage/retries.ts'
import { seeded } from '../../support/seeded.ts'

type Retries = ReturnType<typeof createRetries>
type Fault = NonNullable<Parameters<Retries['refreshRetryTokenForRetry']>[1]['error']>
const FAULT = Object.assign(new Error('Internal server error'), { $metadata: {} }) as Fault

/** Makes one call as the SDK does, without delays. Returns the number of attempts and whether the last one succeeded. */
async function call(retries: Retries, fails: () => boolean, errorType: 'TRANSIENT' | 'CLIENT_ERROR' = 'TRANSIENT') {
  let token = await retries.acquireInitialRetryToken('')
  for (let attempts = 1; ; attempts++) {
    if (!fails()) {
      retries.recordSuccess(token)
      return { attempts, isDone: true }
    }
    try {
      token = await retries.refreshRetryTokenForRetry(token, { errorType, error: FAULT })
    } catch (error) {
      expect(error).toBe(FAULT)
      return { attempts, isDone: false }
    }
  }
}
const calls = async (count: number, retries: Retries, fails: () => boolean) => {
  const made = []
  for (let done = 0; done < count; done++) made.push(await call(retries, fails))
  return made
}

describe('a call to AWS that fails', () => {
  it('is retried as long as every second attempt succeeds, after any number of calls', async () => {
    const random = seeded(30)
    const made = await calls(20_000, createRetries(), () => random() < 0.3)
    expect(made.filter(({ isDone }) => !isDone)).toEqual([])
  })

  it('fails after ten attempts, and after one attempt during an outage', async () => {
    const retries = createRetries()
    const made = await calls(100, retries, () => true)
    expect([made[0]?.attempts, made.at(-1)?.attempts]).toEqual([10, 1])
    // Successful calls refill the retry budget.
    await calls(50, retries, () => false)
    let faults = 3
    expect(await call(retries, () => faults-- > 0)).toEqual({ attempts: 4, isDone: true })
  })

  it('is not retried when the request itself is invalid', async () => {
    expect(await call(createRetries(), () => true, 'CLIENT_ERROR')).toEqual({ attempts: 1, isDone: false })
  })

  it('waits longer after each attempt, longest after throttling, with random jitter', async () => {
    const retries = createRetries(() => 0.999)
    const pauses = async (errorType: 'TRANSIENT' | 'THROTTLING') => {
      let token = await retries.acquireInitialRetryToken('')
      const waits: number[] = []
      for (let tries = 0; tries < 9; tries++) {
        token = await retries.refreshRetryTokenForRetry(token, { errorType, error: FAULT })
        waits.push(token.getRetryDelay())
      }
      return waits
    }
    expect(await pauses('TRANSIENT')).toEqual([24, 49, 99, 199, 399, 799, 999, 999, 999])
    expect(await pauses('THROTTLING')).toEqual([99, 199, 399, 799, 1598, 1998, 1998, 1998, 1998])
    const lucky = createRetries(() => 0)
    const token = await lucky.refreshRetryTokenForRetry(await lucky.acquireInitialRetryToken(''), { errorType: 'TRANSIENT', error: FAULT })
    expect(token.getRetryDelay()).toBe(0)
  })
})
