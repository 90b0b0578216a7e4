import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionMessage, ExecutionStepMessage } from '../../services/model/messages.ts'
import { MAX_RECEIVES } from '../../services/model/messages.ts'
import { consumeQueue, type ConsumerOptions } from '../../services/adapters/storage/sqs/consumer.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { createSqsConsumer } from '../../services/adapters/storage/sqs/sqs-consumer.ts'
import { queueConsumerContract } from './queue-consumer.ts'
import { executionMessage } from './queue.ts'

let storage: AwsStorage
let stops: (() => Promise<void>)[] = []
beforeEach(async () => void (storage = await startAwsStorage()))
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

queueConsumerContract('SQS', () => ({
  queue: storage.queue,
  consumer: createSqsConsumer({ client: storage.clients.sqs, ...storage.resources }),
  counts: async () => {
    const { waiting, hidden } = await counts(storage.resources.queueUrls.executions)
    const dead = await counts(storage.resources.deadLetterUrls.executions)
    return { waiting, hidden, dead: dead.waiting + dead.hidden }
  },
}))

describe('the SQS consumer beyond the port', () => {
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

  it.each([
    ['no JSON', 'hello'],
    ['an unknown version', JSON.stringify({ ...executionMessage(), v: 2 })],
    ['another shape', JSON.stringify({ v: 1, type: 'sandbox.refill' })],
  ])('does not handle %s; it becomes a dead letter after its last receive', async (_, body) => {
    const { queueUrls, deadLetterUrls } = storage.resources
    let calls = 0
    const consumer = consume(async () => void (calls += 1), { backOffSeconds: () => 0 })
    await storage.clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrls.executions, MessageBody: body }))
    await expect.poll(() => counts(deadLetterUrls.executions), { timeout: 20_000 }).toEqual({ waiting: 1, hidden: 0 })
    expect(calls).toBe(0)
    expect(consumer.errors).toHaveLength(MAX_RECEIVES)
  })

  it('continues after a poll that failed', async () => {
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
