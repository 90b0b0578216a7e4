import { expect, it } from 'vitest'
import { GroupCommit } from '../../../services/adapters/storage/sqlite/group-commit.ts'

/** A log whose syncs end when the test says so. */
function manualLog() {
  const syncs: PromiseWithResolvers<void>[] = []
  const commits = new GroupCommit(() => {
    const sync = Promise.withResolvers<void>()
    syncs.push(sync)
    return sync.promise
  })
  return { commits, syncs }
}
const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise.then(() => false), new Promise((resolve) => setImmediate(() => resolve(true)))])) as boolean

it('starts no sync for a deferred write, and covers it with the next one', async () => {
  const { commits, syncs } = manualLog()
  await commits.deferred('a')
  expect(syncs).toHaveLength(0)
  const written = commits.written('b')
  await expect.poll(() => syncs.length).toBe(1)
  const read = commits.settled('a')
  expect(await isPending(read)).toBe(true)
  syncs[0]?.resolve()
  await Promise.all([written, read])
  await commits.settled()
  expect(syncs).toHaveLength(1)
})

it('lets no reader see a deferred write before it is durable', async () => {
  const { commits, syncs } = manualLog()
  await commits.deferred('a')
  const read = commits.settled('a')
  await expect.poll(() => syncs.length).toBe(1)
  expect(await isPending(read)).toBe(true)
  syncs[0]?.resolve()
  await read
})

it('resolves a deferred write after the waiting writes to the same partition before it', async () => {
  const { commits, syncs } = manualLog()
  const order: string[] = []
  const first = commits.written('a').then(() => order.push('first'))
  const second = commits.deferred('a').then(() => order.push('second'))
  await expect.poll(() => syncs.length).toBe(1)
  const third = commits.deferred('a').then(() => order.push('third'))
  expect(order).toEqual([])
  syncs[0]?.resolve()
  await Promise.all([first, second, third])
  expect(order).toEqual(['first', 'second', 'third'])
})

it('reports a failed sync to every later flush', async () => {
  const { commits, syncs } = manualLog()
  await commits.deferred('a')
  const flushed = commits.settled()
  await expect.poll(() => syncs.length).toBe(1)
  syncs[0]?.reject(new Error('EIO'))
  await expect(flushed).rejects.toThrow('EIO')
  await expect(commits.settled()).rejects.toThrow('EIO')
})
