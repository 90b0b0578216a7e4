import type { QueueName } from '../../../model/messages.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Queue, QueueConsumer } from '../../../ports/queue.ts'
import type { Table } from '../../../ports/table.ts'
import type { HttpHandler } from '../../../adapters/storage/files/object-handler.ts'
import type { Items } from '../../../adapters/storage/rows/items.ts'

/** The storage of a server on one machine. */
export interface LocalStorage {
  readonly table: Table
  readonly objects: ObjectStore
  readonly queue: Queue
  readonly consumer: QueueConsumer
  /** Messages in this process by queue: waiting or running ones, and dead letters. Null when another service holds them. */
  readonly queueSizes: (() => Readonly<Record<QueueName, { readonly waiting: number; readonly dead: number }>>) | null
  /** The primitives below the table. */
  readonly items: Items
  /** Serves presigned links below OBJECTS_PATH of the API's port; null when the object store serves them itself. */
  readonly objectHandler: HttpHandler | null
  /** Copies rows and objects into a new folder while the server runs; null when the storage is not on this machine. */
  readonly backUp: ((folder: string) => Promise<void>) | null
  close(): Promise<void>
}
