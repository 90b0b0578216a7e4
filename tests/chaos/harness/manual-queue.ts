import type { QueueMessages, QueueName } from '../../../services/model/messages.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import type { History } from '../history.ts'

export type Message = { [Q in QueueName]: { readonly queue: Q; readonly body: QueueMessages[Q]; readonly id: string } }[QueueName]

/** A queue without a consumer: the scenario receives messages itself, in any order and as often as it needs. */
export interface ManualQueue {
  readonly queue: Queue
  readonly messages: Message[]
  /** Removes and returns the oldest message, or the one at this index. */
  receive(index?: number): Message | undefined
}

export function createManualQueue(history: History): ManualQueue {
  const messages: Message[] = []
  let sent = 0
  return {
    messages,
    queue: {
      async send(queue, body) {
        const id = `m${(sent += 1)}`
        history.add({ type: 'sent', queue, message: id })
        messages.push({ queue, body, id } as Message)
      },
      check: async () => undefined,
    },
    receive(index = 0) {
      const [message] = messages.splice(index, 1)
      if (message !== undefined) history.add({ type: 'delivered', queue: message.queue, message: message.id })
      return message
    },
  }
}
