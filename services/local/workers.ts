import { setTimeout as delay } from 'node:timers/promises'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { describeCause } from '../core/describe-cause.ts'
import type { QueueMessages, QueueName } from '../core/messages.ts'
import type { Telemetry } from '../core/ports/telemetry.ts'
import { createDeadLetterStep } from '../orchestrator/dead-letters.ts'
import type { ReconcilerDeps } from '../orchestrator/deps.ts'
import { reconcile } from '../orchestrator/reconciler/reconcile.ts'
import { consumeQueue } from '../storage/sqs/consumer.ts'
import { consumeDeadLetters } from './dead-letter-consumer.ts'
import type { LocalResources } from './emulators/create-local-resources.ts'

export type Steps = { readonly [Q in QueueName]: (message: QueueMessages[Q]) => Promise<void> }

const CONCURRENCY: Record<QueueName, number> = { turns: 32, executions: 128, placements: 16 }
const RECONCILE_EVERY_MS = 5_000

export interface Workers {
  /** Takes no more messages and waits for the steps that run, at most this long: a step that is left behind is as good as crashed, which is safe. */
  stop(patienceMs: number): Promise<void>
}

/** Feeds every queue to its step and runs the reconciler, as Lambda's mappings and schedule do. */
export function startWorkers(options: {
  readonly sqs: SQSClient
  readonly resources: LocalResources
  readonly steps: Steps
  readonly reconciler: ReconcilerDeps
  readonly telemetry: Telemetry
  /** How long a message whose step failed stays away, seconds; doubling when absent. */
  readonly backOffSeconds?: (receives: number) => number
}): Workers {
  const { sqs, resources, steps, reconciler, telemetry, backOffSeconds } = options
  const stopping = new AbortController()
  const onError = (queue: QueueName) => (error: unknown, delivery: { readonly receives: number } | null) =>
    telemetry.emit({ event: 'message', outcome: 'error', queue, receives: delivery?.receives ?? null, detail: describeCause(error) })

  const consume = <Q extends QueueName>(queue: Q): Promise<void> =>
    consumeQueue({
      client: sqs,
      queue,
      queueUrl: resources.queueUrls[queue],
      handler: steps[queue],
      concurrency: CONCURRENCY[queue],
      signal: stopping.signal,
      onError: onError(queue),
      ...(backOffSeconds !== undefined && { backOffSeconds }),
    })
  const bury = createDeadLetterStep(reconciler)
  const buryFrom = (queue: QueueName): Promise<void> =>
    consumeDeadLetters({
      client: sqs,
      queueUrl: resources.deadLetterUrls[queue],
      handler: (body) => bury(queue, body),
      signal: stopping.signal,
      onError: onError(queue),
    })

  const loops = [
    consume('turns'),
    consume('executions'),
    consume('placements'),
    buryFrom('turns'),
    buryFrom('executions'),
    buryFrom('placements'),
    reconcileUntil(stopping.signal, reconciler, telemetry),
  ]
  const finished = Promise.allSettled(loops).then(() => undefined)
  return {
    stop: async (patienceMs) => {
      stopping.abort()
      const patience = new AbortController()
      await Promise.race([finished, delay(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined)])
      patience.abort()
    },
  }
}

async function reconcileUntil(signal: AbortSignal, deps: ReconcilerDeps, telemetry: Telemetry): Promise<void> {
  while (!signal.aborted) {
    await reconcile(deps).catch((error: unknown) => telemetry.emit({ event: 'reconcile', outcome: 'error', detail: describeCause(error) }))
    await delay(RECONCILE_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}
