import type { QueueMessages, QueueName } from '../../../services/core/messages.ts'
import type { Queue } from '../../../services/core/ports/queue.ts'
import type { History } from '../history.ts'

export type Letter = { [Q in QueueName]: { readonly queue: Q; readonly message: QueueMessages[Q]; readonly id: string } }[QueueName]

/** Queues as a scenario wants them: it takes letters out itself, in any order and as often as it likes. */
export interface Courier {
  readonly queue: Queue
  readonly letters: Letter[]
  /** The oldest letter, or the one at this place. */
  take(place?: number): Letter | undefined
}

export function createCourier(history: History): Courier {
  const letters: Letter[] = []
  let sent = 0
  return {
    letters,
    queue: {
      async send(queue, message) {
        const id = `m${(sent += 1)}`
        history.add({ type: 'sent', queue, message: id })
        letters.push({ queue, message, id } as Letter)
      },
      check: async () => undefined,
    },
    take(place = 0) {
      const [letter] = letters.splice(place, 1)
      if (letter !== undefined) history.add({ type: 'delivered', queue: letter.queue, message: letter.id })
      return letter
    },
  }
}
