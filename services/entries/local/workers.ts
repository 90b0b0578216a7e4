import { setTimeout as delay } from 'node:timers/promises'
import { describeCause } from '../../model/describe-cause.ts'
import type { QueueMessages, QueueName, TurnMessage } from '../../model/messages.ts'
import { workFor } from '../../model/trace.ts'
import type { QueueConsumer } from '../../ports/queue.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { createDeadLetterStep } from '../../workers/reconcile/dead-letters.ts'
import type { DeliveryLanes } from '../../workers/deliver/delivery-lanes.ts'
import type { ReconcilerDeps } from '../../workers/deps.ts'
import { ProcessorShares } from '../../workers/place/processor-shares.ts'
import { reconcile } from '../../workers/reconcile/reconcile.ts'

export type Steps = { readonly [Q in QueueName]: (message: QueueMessages[Q]) => Promise<void> }

/** The queue of turns carries webhook deliveries as well. They wait and run in their lanes, not in the slots of turns. */
export const turnsStep =
  (turn: (message: TurnMessage) => Promise<void>, deliveries: DeliveryLanes): Steps['turns'] =>
  async (message) =>
    message.type === 'webhook.deliver' ? deliveries.add(message) : turn(message)

/**
 * Steps of this process at the same time. A turn mostly waits for its model, and a run for its sandbox, so neither number protects the processor. A tenant
 * gets its share of each; of placements, the platform's own work has a share as a tenant does.
 */
const PLACES: Readonly<Record<QueueName, number>> = { turns: 500, executions: 256, placements: 16 }
const RECONCILE_EVERY_MS = 5_000
const BALANCE_EVERY_MS = 250

export interface Workers {
  /** Stops receiving messages and waits for running steps, at most this long. An abandoned step counts as crashed, which is safe. */
  stop(timeoutMs: number): Promise<void>
}

/** Feeds every queue to its step and runs the reconciler, as Lambda's mappings and schedule do; shares the processors between tenants. */
export function startWorkers(options: {
  readonly consumer: QueueConsumer
  readonly steps: Steps
  readonly reconciler: ReconcilerDeps
  readonly telemetry: Telemetry
  /** How long a message is hidden after its step failed, seconds. */
  readonly backOffSeconds?: (receives: number) => number
}): Workers {
  const { consumer, steps, reconciler, telemetry, backOffSeconds } = options
  const stopping = new AbortController()
  const onError = (queue: QueueName) => (error: unknown, delivery: { readonly receives: number } | null) =>
    telemetry.emit({ event: 'message', outcome: 'error', queue, receives: delivery?.receives ?? null, detail: describeCause(error) })

  const consume = <Q extends QueueName>(queue: Q): Promise<void> =>
    consumer.consume(queue, {
      handler: (message) => {
        workFor('tenant' in message ? message.tenant : '')
        return steps[queue](message)
      },
      concurrency: PLACES[queue],
      isShared: true,
      signal: stopping.signal,
      onError: onError(queue),
      ...(backOffSeconds !== undefined && { backOffSeconds }),
    })
  const failDeadLetter = createDeadLetterStep(reconciler)
  const consumeDeadLetters = (queue: QueueName): Promise<void> =>
    consumer.consumeDeadLetters(queue, {
      handler: (body) => failDeadLetter(queue, body),
      signal: stopping.signal,
      onError: onError(queue),
    })

  const shares = new ProcessorShares(reconciler)
  const repeat = (event: string, everyMs: number, work: () => Promise<unknown>): Promise<void> =>
    repeatUntil(stopping.signal, everyMs, () =>
      work().catch((error: unknown) => telemetry.emit({ event, outcome: 'error', detail: describeCause(error) })),
    )

  const loops = [
    consume('turns'),
    consume('executions'),
    consume('placements'),
    consumeDeadLetters('turns'),
    consumeDeadLetters('executions'),
    consumeDeadLetters('placements'),
    repeat('reconcile', RECONCILE_EVERY_MS, () => reconcile(reconciler)),
    repeat('balance', BALANCE_EVERY_MS, () => shares.balance()),
  ]
  const finished = Promise.allSettled(loops).then(() => undefined)
  return {
    stop: async (timeoutMs) => {
      stopping.abort()
      const timeout = new AbortController()
      await Promise.race([finished, delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined)])
      timeout.abort()
    },
  }
}

async function repeatUntil(signal: AbortSignal, everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work()
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
