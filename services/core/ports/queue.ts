import type { QueueMessages, QueueName } from '../messages.ts'

/** Sends nudges. A message may arrive twice, late or never; the rows are the truth. */
export interface Queue {
  /** `group` is the tenant: fair queues keep tenants apart by it. */
  send<Q extends QueueName>(
    queue: Q,
    message: QueueMessages[Q],
    options: { readonly group: string; readonly delaySeconds?: number },
  ): Promise<void>
  check(): Promise<void>
}
