import { afterEach, describe, expect, it } from 'vitest'
import { MAX_RECEIVES, type ExecutionMessage, type ExecutionStepMessage } from '../../services/model/messages.ts'
import type { ConsumeOptions, Queue, QueueConsumer } from '../../services/ports/queue.ts'
import { currentTrace, inTrace } from '../../services/model/trace.ts'
import { executionMessage } from './queue.ts'

export interface ConsumedQueues {
  readonly queue: Queue
  readonly consumer: QueueConsumer
  /** The numbers of visible, in-flight and dead-letter messages of `executions`. */
  counts(): Promise<{ readonly waiting: number; readonly hidden: number; readonly dead: number }>
}

const idOf = (message: ExecutionMessage): string => (message.type === 'execution.step' ? message.executionId : '')

/** The contract of every QueueConsumer. `queues` opens empty queues for each test. */
export function queueConsumerContract(name: string, queues: () => ConsumedQueues): void {
  let stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops) await stop()
    stops = []
  })

  function consume(handler: ConsumeOptions<'executions'>['handler'], change: Partial<ConsumeOptions<'executions'>> = {}) {
    const errors: unknown[] = []
    const end = new AbortController()
    const options = { concurrency: 4, signal: end.signal, handler, onError: (error: unknown) => void errors.push(error), ...change }
    const loop = queues().consumer.consume('executions', options)
    const stop = async (): Promise<void> => {
      end.abort()
      await loop
    }
    stops.push(stop)
    return { errors, stop }
  }
  const send = (message: ExecutionStepMessage): Promise<void> => queues().queue.send('executions', message, { group: message.tenant })

  describe(`QueueConsumer: ${name}`, () => {
    it('delivers every message once and deletes it', async () => {
      const seen: string[] = []
      const consumer = consume(async (message) => void seen.push(idOf(message)))
      const messages = Array.from({ length: 40 }, executionMessage)
      await Promise.all(messages.map(send))
      await expect.poll(() => seen.toSorted()).toEqual(messages.map(({ executionId }) => executionId).toSorted())
      await expect.poll(() => queues().counts()).toEqual({ waiting: 0, hidden: 0, dead: 0 })
      expect(consumer.errors).toEqual([])
    })

    it('runs at most the allowed number of handlers concurrently', async () => {
      const gate = Promise.withResolvers<void>()
      let [running, peak, done] = [0, 0, 0]
      const handler = async (): Promise<void> => {
        peak = Math.max(peak, ++running)
        await gate.promise
        running -= 1
        done += 1
      }
      consume(handler, { concurrency: 3 })
      await Promise.all(Array.from({ length: 9 }, () => send(executionMessage())))
      await expect.poll(() => running).toBe(3)
      await expect.poll(() => queues().counts()).toEqual({ waiting: 6, hidden: 3, dead: 0 })
      gate.resolve()
      await expect.poll(() => done).toBe(9)
      expect(peak).toBe(3)
    })

    it('redelivers a message whose handler failed and reports the error', async () => {
      const receives: number[] = []
      const consumer = consume(async (_, delivery) => {
        receives.push(delivery.receives)
        if (delivery.receives === 1) throw new Error('The sandbox is starting.')
      })
      const sentAt = Date.now()
      await send(executionMessage())
      await expect.poll(() => receives, { timeout: 10_000 }).toEqual([1, 2])
      expect(Date.now() - sentAt).toBeGreaterThanOrEqual(900)
      expect(consumer.errors).toMatchObject([{ message: 'The sandbox is starting.' }])
      await expect.poll(() => queues().counts()).toEqual({ waiting: 0, hidden: 0, dead: 0 })
    })

    it('finishes running handlers when it is stopped and receives no more messages', async () => {
      const gate = Promise.withResolvers<void>()
      let [begun, ended] = [0, 0]
      const handler = async (): Promise<void> => {
        begun += 1
        await gate.promise
        ended += 1
      }
      const consumer = consume(handler, { concurrency: 1 })
      await send(executionMessage())
      await send(executionMessage())
      await expect.poll(() => begun).toBe(1)
      const stopped = consumer.stop()
      gate.resolve()
      await stopped
      expect([begun, ended]).toEqual([1, 1])
      expect(await queues().counts()).toEqual({ waiting: 1, hidden: 0, dead: 0 })
    })

    it('stops at once when no handler runs', async () => {
      const consumer = consume(async () => undefined)
      const startedAt = Date.now()
      await consumer.stop()
      // A long poll that is not aborted takes 20 s.
      expect(Date.now() - startedAt).toBeLessThan(15_000)
    })

    it('moves a message to the dead-letter queue after its last receive, whose handler gets it as text', async () => {
      let calls = 0
      const consumer = consume(
        async () => {
          calls += 1
          throw new Error('It always fails.')
        },
        { backOffSeconds: () => 0 },
      )
      const message = executionMessage()
      await send(message)
      await expect.poll(() => queues().counts(), { timeout: 20_000 }).toEqual({ waiting: 0, hidden: 0, dead: 1 })
      expect([calls, consumer.errors.length]).toEqual([MAX_RECEIVES, MAX_RECEIVES])

      const end = new AbortController()
      const bodies: unknown[] = []
      const loop = queues().consumer.consumeDeadLetters('executions', {
        handler: async (body) => void bodies.push(JSON.parse(body)),
        signal: end.signal,
        onError: (error) => void consumer.errors.push(error),
      })
      await expect.poll(() => bodies).toEqual([message])
      await expect.poll(() => queues().counts()).toEqual({ waiting: 0, hidden: 0, dead: 0 })
      end.abort()
      await loop
    })

    it('continues the trace of the sender', async () => {
      const traces: unknown[] = []
      consume(async () => void traces.push(currentTrace()?.traceId))
      const sender = await inTrace(null, async () => {
        await send(executionMessage())
        return currentTrace()?.traceId
      })
      await expect.poll(() => traces).toEqual([sender])
    })
  })
}
