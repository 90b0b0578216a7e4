import { ServiceError } from '../../../model/errors.ts'
import type { QueueMessages } from '../../../model/messages.ts'
import type { Holds } from '../../../operations/tenancy/hold.ts'
import type { Queue } from '../../../ports/queue.ts'

/** A message whose tenant has no place is sent again after this time, seconds; random, so that many do not arrive together. */
const AGAIN_SECONDS = { min: 5, max: 20 } as const

type Message = QueueMessages['turns']

/**
 * A step in the share that its tenant has of the chat worker's functions. SQS delivers a tenant's messages in fair order but does not limit how many are
 * processed, and a step occupies its function for minutes while the model answers. A message is only a hint, so one without a place is sent again instead of
 * waiting in a function.
 */
export const turnInShare =
  ({ holds, queue, step }: { readonly holds: Holds; readonly queue: Queue; readonly step: (message: Message) => Promise<void> }) =>
  async (message: Message): Promise<void> => {
    const { tenant } = message
    const hold = await holds.take(tenant, 'wait').catch((cause: unknown) => {
      if (cause instanceof ServiceError && cause.code === 'too_many_streams') return null
      throw cause
    })
    if (hold === null) {
      const { min, max } = AGAIN_SECONDS
      return queue.send('turns', message, { group: tenant, delaySeconds: Math.round(min + Math.random() * (max - min)) })
    }
    try {
      await step(message)
    } finally {
      await hold.release()
    }
  }
