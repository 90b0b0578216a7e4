import type { QueueName } from '../../../../services/model/messages.ts'
import type { ObjectStore } from '../../../../services/ports/object-store.ts'
import type { Queue, QueueConsumer } from '../../../../services/ports/queue.ts'
import type { Table } from '../../../../services/ports/table.ts'
import type { StorageEndpoints } from '../../../../services/adapters/storage/clients.ts'
import type { AwsResources } from '../../../emulators/create-resources.ts'
import type { History } from '../../history.ts'
import type { Faults } from '../faults.ts'

export interface StoragePorts {
  readonly table: Table
  readonly objects: ObjectStore
  readonly queue: Queue
}

export interface DeadLetterMessage {
  readonly body: string
  readonly remove: () => Promise<void>
}

/** How another process reaches the storage. */
export interface StorageAddress {
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly endpoints: StorageEndpoints
  readonly resources: AwsResources
}

/** Storage of one kind under test. It records every write of the table in the table's order. */
export interface ChaosStorage {
  /** Calls fail at the rate of `faults`, below the retries of the storage. */
  readonly faulty: StoragePorts
  readonly reliable: StoragePorts
  readonly consumer: QueueConsumer
  /** False: the queue carries values of this process, so a message cannot be malformed. */
  readonly carriesText: boolean
  /** Sends the text of a message; with `carriesText`, any text. */
  sendText(queue: QueueName, text: string): Promise<void>
  /** Receives from a dead-letter queue until there are `count` messages or the time is over. */
  deadLetters(queue: QueueName, count: number, timeoutMs: number): Promise<readonly DeadLetterMessage[]>
  /** Visible, in-flight and delayed messages of all queues. */
  pendingMessages(): Promise<number>
  /** Stops the storage during the work and starts it again. Messages are lost; rows and objects survive. */
  restart(downMs: number): Promise<void>
  /** Null: the storage belongs to one process. */
  readonly address: StorageAddress | null
  stop(): Promise<void>
}

export interface ChaosStorageOptions {
  readonly history: History
  readonly faults: Faults
  /** Whether rows survive a restart. */
  readonly isDurable: boolean
}
