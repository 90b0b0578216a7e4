import { describe, expect, it } from 'vitest'
import { AnswerBudget } from '../../../services/http/answer-budget.ts'
import { answerPool, requestPool } from '../../../services/http/connection-budget.ts'

const refusal = (work: () => void): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  return null
}

describe('a pool of bytes', () => {
  it('gives one owner a quarter, and the rest to others', () => {
    const pool = requestPool(400)
    const first = pool.lease('a')
    first.add(60)
    first.add(40)
    expect(refusal(() => first.add(1))).toMatchObject({
      code: 'too_many_request_bytes',
      limit: { name: 'max_request_bytes_in_flight', value: 100, retryAfterSeconds: 1 },
    })
    expect(refusal(() => pool.lease('a').add(1))).toMatchObject({ code: 'too_many_request_bytes' })
    for (const owner of ['b', 'c', 'd']) pool.lease(owner).add(100)
    expect(refusal(() => pool.lease('e').add(1))).toMatchObject({ limit: { value: 400 } })
    first.release()
    pool.lease('e').add(100)
    expect([pool.held, pool.heldBy('a'), pool.heldBy('e')]).toEqual([400, 0, 100])
  })

  it('changes nothing when it refuses, and nothing after a lease was released', () => {
    const pool = requestPool(400)
    const lease = pool.lease('a')
    lease.add(80)
    expect(refusal(() => lease.add(30))).not.toBeNull()
    expect([lease.bytes, pool.held]).toEqual([80, 80])
    lease.release()
    lease.release()
    lease.set(50)
    expect([lease.bytes, pool.held]).toEqual([0, 0])
  })

  it('admits one piece of any size while it is empty', () => {
    const pool = answerPool(400)
    pool.lease('a').add(1_000)
    expect(refusal(() => pool.lease('b').add(1))).toMatchObject({ code: 'too_many_results' })
  })
})

describe('the budget of a call', () => {
  it('keeps what an answer holds, and frees what its work used', async () => {
    const pool = answerPool(400)
    const budget = new AnswerBudget(pool.lease('a'))
    expect(await budget.use(50, async () => pool.held)).toBe(50)
    expect(pool.held).toBe(0)
    await budget.hold(50, async () => undefined)
    expect(pool.held).toBe(50)
  })

  it('frees what work used that failed', async () => {
    const pool = answerPool(400)
    const budget = new AnswerBudget(pool.lease('a'))
    await expect(budget.use(50, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(pool.held).toBe(0)
  })

  it('refuses to reserve space that is not free, and serves a result larger than its reservation once there is space', async () => {
    const pool = answerPool(400)
    const other = pool.lease('a')
    other.add(60)
    const budget = new AnswerBudget(pool.lease('a'))
    expect(refusal(() => budget.reserve(50))).toMatchObject({ code: 'too_many_results' })
    budget.reserve(30)
    expect(pool.heldBy('a')).toBe(90)
    // Within the reservation nothing waits.
    await budget.use(20, async () => expect(pool.heldBy('a')).toBe(90))
    const served = budget.hold(90, async () => pool.heldBy('a'))
    expect(await Promise.race([served, Promise.resolve('waits')])).toBe('waits')
    other.release()
    expect(await served).toBe(90)
  })

  it('lets a call that reserved nothing wait for the space that readers free, and refuses it when no reader does', async () => {
    const pool = answerPool(400)
    const other = pool.lease('a')
    other.add(90)
    const read = () => new AnswerBudget(pool.lease('a')).hold(20, async () => pool.heldBy('a'))
    await expect(read()).rejects.toMatchObject({ code: 'too_many_results' })
    const served = read()
    other.release()
    expect(await served).toBe(20)
  })
})
