import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionMessage, ExecutionStepMessage } from '../../services/core/messages.ts'
import { MAX_RECEIVES } from '../../services/core/messages.ts'
import { consumeQueue, type ConsumerOptions } from '../../services/storage/sqs/consumer.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { executionMessage } from './queue.ts'

let storage: Storage
let stops: (() => Promise<void>)[] = []
beforeEach(async () => void (storage = await startStorage()))
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
  await storage.stop()
})

type Handler = ConsumerOptions<'executions'>['handler']

function consume(
  handler: Handler,
  change: Partial<ConsumerOptions<'executions'>> = {},
): { readonly errors: unknown[]; stop(): Promise<void> } {
  const errors: unknown[] = []
  const end = new AbortController()
  const loop = consumeQueue({
    client: storage.clients.sqs,
    queue: 'executions',
    queueUrl: storage.resources.queueUrls.executions,
    concurrency: 4,
    signal: end.signal,
    handler,
    onError: (error) => void errors.push(error),
    ...change,
  })
  const stop = async (): Promise<void> => {
    end.abort()
    await loop
  }
  stops.push(stop)
  return { errors, stop }
}

const idOf = (message: ExecutionMessage): string => (message.type === 'execution.step' ? message.executionId : '')
const send = (message: ExecutionStepMessage): Promise<void> => storage.queue.send('executions', message, { group: message.tenant })
const counts = async (queueUrl: string): Promise<{ readonly waiting: number; readonly hidden: number }> => {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const { Attributes } = await storage.clients.sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }))
  return { waiting: Number(Attributes?.[names[0]]), hidden: Number(Attributes?.[names[1]]) }
}
const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

describe('the consumer of a queue', () => {
  it('hands every message over once and deletes it', async () => {
    const seen: string[] = []
    const consumer = consume(async (message) => void seen.push(idOf(message)))
    const messages = Array.from({ length: 40 }, executionMessage)
    await Promise.all(messages.map(send))
    await expect.poll(() => seen.toSorted()).toEqual(messages.map(({ executionId }) => executionId).toSorted())
    await expect.poll(() => counts(storage.resources.queueUrls.executions)).toEqual({ waiting: 0, hidden: 0 })
    expect(consumer.errors).toEqual([])
  })

  it('runs as many handlers at once as it may, and no more', async () => {
    const hold = gate()
    let [now, most, done] = [0, 0, 0]
    consume(
      async () => {
        most = Math.max(most, ++now)
        await hold.passed
        now -= 1
        done += 1
      },
      { concurrency: 3 },
    )
    await Promise.all(Array.from({ length: 9 }, () => send(executionMessage())))
    await expect.poll(() => now).toBe(3)
    await expect.poll(() => counts(storage.resources.queueUrls.executions)).toEqual({ waiting: 6, hidden: 3 })
    hold.open()
    await expect.poll(() => done).toBe(9)
    expect(most).toBe(3)
  })

  it('brings a message again whose handler failed, and says why', async () => {
    const receives: number[] = []
    const consumer = consume(async (_, delivery) => {
      receives.push(delivery.receives)
      if (delivery.receives === 1) throw new Error('The sandbox is starting.')
    })
    await send(executionMessage())
    await expect.poll(() => receives, { timeout: 10_000 }).toEqual([1, 2])
    expect(consumer.errors).toMatchObject([{ message: 'The sandbox is starting.' }])
    await expect.poll(() => counts(storage.resources.queueUrls.executions)).toEqual({ waiting: 0, hidden: 0 })
  })

  it('keeps a message hidden while its handler works', async () => {
    const hold = gate()
    let calls = 0
    consume(
      async () => {
        calls += 1
        await hold.passed
      },
      { visibilitySeconds: 1 },
    )
    const sentAt = Date.now()
    await send(executionMessage())
    await expect.poll(async () => Date.now() - sentAt > 2_500, { timeout: 5_000 }).toBe(true)
    expect(calls).toBe(1)
    hold.open()
    await expect.poll(() => counts(storage.resources.queueUrls.executions)).toEqual({ waiting: 0, hidden: 0 })
    expect(calls).toBe(1)
  })

  it('finishes what it began when it is stopped, and takes nothing more', async () => {
    const hold = gate()
    let [begun, ended] = [0, 0]
    const consumer = consume(
      async () => {
        begun += 1
        await hold.passed
        ended += 1
      },
      { concurrency: 1 },
    )
    await send(executionMessage())
    await send(executionMessage())
    await expect.poll(() => begun).toBe(1)
    const stopped = consumer.stop()
    hold.open()
    await stopped
    expect([begun, ended]).toEqual([1, 1])
    expect(await counts(storage.resources.queueUrls.executions)).toEqual({ waiting: 1, hidden: 0 })
  })

  it('stops at once when it only waits', async () => {
    const consumer = consume(async () => undefined)
    const startedAt = Date.now()
    await consumer.stop()
    // A poll that nobody ends takes 20 s.
    expect(Date.now() - startedAt).toBeLessThan(15_000)
  })

  it.each([
    ['no JSON', 'hello'],
    ['an unknown version', JSON.stringify({ ...executionMessage(), v: 2 })],
    ['another shape', JSON.stringify({ v: 1, type: 'sandbox.refill' })],
  ])('never handles %s, and leaves it to the dead-letter queue after its last receive', async (_, body) => {
    const { queueUrls, deadLetterUrls } = storage.resources
    let calls = 0
    const consumer = consume(async () => void (calls += 1), { backOffSeconds: () => 0 })
    await storage.clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrls.executions, MessageBody: body }))
    await expect.poll(() => counts(deadLetterUrls.executions), { timeout: 20_000 }).toEqual({ waiting: 1, hidden: 0 })
    expect(calls).toBe(0)
    expect(consumer.errors).toHaveLength(MAX_RECEIVES)
  })

  it('goes on after a poll that failed', async () => {
    const { sqs } = storage.clients
    let failures = 2
    const flaky = Object.assign(Object.create(sqs) as typeof sqs, {
      send: async (...args: Parameters<typeof sqs.send>) => {
        if (failures-- > 0) throw new Error('SQS does not answer.')
        return sqs.send(...args)
      },
    })
    const seen: string[] = []
    const consumer = consume(async (message) => void seen.push(idOf(message)), { client: flaky })
    const message = executionMessage()
    await send(message)
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual([message.executionId])
    expect(consumer.errors).toHaveLength(2)
  })
})
