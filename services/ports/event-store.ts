import type { AnyEvent, EventBatch, EventOwner } from '../model/events.ts'

export interface EventStore {
  /** False when a batch with this first number exists: another worker wrote it. */
  append(owner: EventOwner, batch: EventBatch): Promise<boolean>
  /** Events with numbers above `after`, in order, in whole batches up to `limit` events. Consistent. */
  read<E extends AnyEvent>(owner: EventOwner, after: number, limit: number): Promise<readonly E[]>
  /** The batch written last. */
  last(owner: EventOwner): Promise<EventBatch | null>
  removeAll(owner: EventOwner): Promise<void>
}
