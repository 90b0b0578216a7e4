import { EventEmitter } from 'node:events'
import { setImmediate as nextPass } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { RoundRobin } from '../../../services/http/round-robin.ts'

/** The order in which requests begin that enter in this order. */
async function orderOf(owners: readonly string[]): Promise<readonly string[]> {
  const queue = new RoundRobin()
  const begun: string[] = []
  await Promise.all(owners.map((owner) => queue.enter(owner).then(() => begun.push(owner))))
  return begun
}

it('lets a single request begin at once', async () => {
  const queue = new RoundRobin()
  let hasBegun = false
  void queue.enter('a').then(() => (hasBegun = true))
  await Promise.resolve()
  await Promise.resolve()
  expect(hasBegun).toBe(true)
})

it('takes the owners in turn, however many requests one of them has', async () => {
  expect(await orderOf(['a', 'a', 'a', 'a', 'b', 'c', 'b'])).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a'])
})

it('serves input and output between two requests', async () => {
  const queue = new RoundRobin()
  const begun: number[] = []
  let passes = 0
  let isOver = false
  const passing = (async () => {
    for (; !isOver; passes++) await nextPass()
  })()
  await Promise.all(Array.from({ length: 10 }, () => queue.enter('a').then(() => begun.push(passes))))
  isOver = true
  await passing
  expect(new Set(begun).size).toBeGreaterThanOrEqual(9)
})

it('begins at once again after it was empty', async () => {
  const queue = new RoundRobin()
  await Promise.all(['a', 'a', 'b'].map((owner) => queue.enter(owner)))
  await nextPass()
  await queue.enter('a')
})

it('gives no turn to one who leaves, and lets it go at once', async () => {
  const queue = new RoundRobin()
  const order: string[] = []
  const enter = async (name: string, waiter?: EventEmitter & { destroyed: boolean }): Promise<void> => {
    await queue.enter('a', waiter)
    order.push(name)
  }
  const leaving = Array.from({ length: 1_000 }, () => Object.assign(new EventEmitter(), { destroyed: false }))
  await queue.enter('a')
  const waiting = leaving.map((waiter) => enter('left', waiter))
  const last = enter('last')
  for (const waiter of leaving) {
    waiter.destroyed = true
    waiter.emit('close')
  }
  // One pass of the event loop, in which one of them could begin.
  await nextPass()
  expect(order.filter((name) => name === 'left')).toHaveLength(leaving.length)
  await Promise.all([...waiting, last])
  await enter('late', Object.assign(new EventEmitter(), { destroyed: true }))
  expect(leaving.map((waiter) => waiter.listenerCount('close'))).toEqual(leaving.map(() => 0))
})
