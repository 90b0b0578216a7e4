import { beforeEach, describe, expect, it } from 'vitest'
import { QUEUES, type QueueName } from '../../services/model/messages.ts'
import { MemoryQueue } from '../../services/adapters/storage/memory-queue/memory-queue.ts'
import { FairQueue } from '../../services/adapters/storage/memory-queue/fair-queue.ts'
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
})
