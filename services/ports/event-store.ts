import type { AnyEvent, EventBatch, EventOwner } from '../model/events.ts'

/** How much one read returns: events in number, and where given their JSON in bytes. */
export type ReadLimit = number | { readonly events: number; readonly bytes: number }

export interface EventStore {
  /** False when a batch with this first number exists: another worker wrote it. */
  append(owner: EventOwner, batch: EventBatch): Promise<boolean>
  /** Events with numbers above `after`, in order, in whole batches up to `limit`, and at least one batch. Consistent. */
  read<E extends AnyEvent>(owner: EventOwner, after: number, limit: ReadLimit): Promise<readonly E[]>
  /** The batch written last. */
  last(owner: EventOwner): Promise<EventBatch | null>
  /** The batch written first, of those that remain. */
  first(owner: EventOwner): Promise<EventBatch | null>
  /** Removes the batches that end before this number. The newest one remains, because the next number follows from it. */
  removeBefore(owner: EventOwner, seq: number): Promise<void>
  removeAll(owner: EventOwner): Promise<void>
}
