import { beforeEach, describe, expect, it } from 'vitest'
import { QUEUES, type QueueName } from '../../services/model/messages.ts'
import { MemoryQueue } from '../../services/adapters/storage/memory-queue/memory-queue.ts'
import { FairQueue } from '../../services/adapters/storage/fairness/fair-queue.ts'
import { queueConsumerContract } from './queue-consumer.ts'
import { queueContract } from './queue.ts'

let queue: MemoryQueue
beforeEach(() => void (queue = new MemoryQueue()))

queueConsumerContract('in memory', () => ({
  queue,
  consumer: queue,
  counts: async () => {
    const { ready, delayed, inFlight, deadLetters } = queue.counts('executions')
    return { waiting: ready + delayed, hidden: inFlight, dead: deadLetters }
  },
}))

const received = new WeakMap<MemoryQueue, Map<QueueName, unknown[]>>()
queueContract(
  'in memory',
  () => queue,
  async (name) => {
    const known = received.get(queue)
    if (known !== undefined) return known.get(name) ?? []
    const messages = new Map<QueueName, unknown[]>(QUEUES.map((each) => [each, []]))
    received.set(queue, messages)
    for (const each of QUEUES)
      void queue.consume(each, {
        handler: async (message) => void messages.get(each)?.push(message),
        concurrency: 10,
        signal: new AbortController().signal,
        onError: (error) => expect.unreachable(String(error)),
      })
    return []
  },
)

describe('a fair queue', () => {
  it('receives from the groups in turn, first in, first out within a group', () => {
    const entries = new FairQueue<string>()
    for (const entry of ['a1', 'a2', 'a3', 'a4']) entries.add('a', entry)
    entries.add('b', 'b1')
    entries.add('c', 'c1')
    entries.add('b', 'b2')
    expect(Array.from({ length: 8 }, () => entries.take())).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', undefined])
    expect(entries.size).toBe(0)
  })

  it('keeps the turn of a group that is not admitted', () => {
    const entries = new FairQueue<string>()
    for (const entry of ['a1', 'b1', 'a2']) entries.add(entry.slice(0, 1), entry)
    const notA = (group: string): boolean => group !== 'a'
    expect([entries.take(notA), entries.take(notA), entries.take(), entries.take()]).toEqual(['b1', undefined, 'a1', 'a2'])
  })
})

describe('shared handlers', () => {
  it('leaves handlers for the messages of other groups', async () => {
    const running: string[] = []
    const release = Promise.withResolvers<undefined>()
    const stop = new AbortController()
    const send = async (group: string, count: number): Promise<void> => {
      for (let n = 0; n < count; n++)
        await queue.send('turns', { v: 1, type: 'response.step', tenant: group, responseId: `resp_${n}` }, { group })
    }
    await send('a', 40)
    const consumed = queue.consume('turns', {
      handler: async ({ tenant }) => {
        running.push(tenant)
        await release.promise
      },
      concurrency: 16,
      isShared: true,
      signal: stop.signal,
      onError: (error) => expect.unreachable(String(error)),
    })
    await expect.poll(() => running.length).toBe(8)
    await send('b', 40)
    await expect.poll(() => running.filter((group) => group === 'b').length).toBe(4)
    await send('c', 1)
    await expect.poll(() => running).toContain('c')
    expect(running.filter((group) => group === 'a')).toHaveLength(8)
    release.resolve(undefined)
    await expect.poll(() => running.length).toBe(81)
    stop.abort()
    await consumed
  })
})
