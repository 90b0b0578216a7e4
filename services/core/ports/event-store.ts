import type { AnyEvent, EventBatch, EventOwner } from '../events.ts'

export interface EventStore {
  /** False when another batch with this first number exists already: another worker wrote it. */
  append(owner: EventOwner, batch: EventBatch): Promise<boolean>
  /** Events with numbers above `after`, in order, whole batches as far as `limit` events go. Consistent. */
  read<E extends AnyEvent>(owner: EventOwner, after: number, limit: number): Promise<readonly E[]>
  /** The batch written last. */
  last(owner: EventOwner): Promise<EventBatch | null>
  removeAll(owner: EventOwner): Promise<void>
}
