import type { DueName } from '../model/due-names.ts'
import type { AttachmentStore } from './attachment-store.ts'
import type { AuditStore } from './audit-store.ts'
import type { ContainerStore } from './container-store.ts'
import type { ConversationStore } from './conversation-store.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { EventStore } from './event-store.ts'
import type { ExecutionStore } from './execution-store.ts'
import type { FileStore } from './file-store.ts'
import type { IdempotencyStore } from './idempotency-store.ts'
import type { LinkStore } from './link-store.ts'
import type { LockStore } from './lock-store.ts'
import type { ObjectStore } from './object-store.ts'
import type { SharedRowStore } from './shared-row-store.ts'
import type { ResponseStore } from './response-store.ts'
import type { SandboxStore } from './sandbox-store.ts'
import type { SkillStore } from './skill-store.ts'
import type { TenantRows } from './tenant-rows.ts'
import type { TenantStore } from './tenant-store.ts'
import type { NetworkLogStore } from './network-log-store.ts'
import type { SecretStore } from './secret-store.ts'
import type { UploadStore } from './upload-store.ts'
import type { UsageStore } from './usage-store.ts'
import type { UserFileStore } from './user-file-store.ts'

export type DueRow = {
  readonly kind: DueName
  readonly tenant: string
  readonly id: string
  readonly dueAt: number
}

/** Counts the bytes of tenants' rows. */
export interface RowMeter {
  /** Before a write. `isContainer`: it is the row of a new container. Throws ServiceError `storage_exhausted` when the tenant may not store it. */
  admit(tenant: string, write: { readonly bytes: number; readonly isContainer: boolean }): Promise<void>
  /** Records bytes that were stored; a negative number for removed ones. */
  add(tenant: string, bytes: number): Promise<void>
}

/** All durable state. */
export interface Table {
  readonly containers: ContainerStore
  readonly executions: ExecutionStore
  readonly responses: ResponseStore
  readonly files: FileStore
  readonly userFiles: UserFileStore
  readonly skills: SkillStore
  readonly uploads: UploadStore
  readonly conversations: ConversationStore
  readonly sandboxes: SandboxStore
  readonly events: EventStore
  readonly tenants: TenantStore
  readonly idempotency: IdempotencyStore
  readonly links: LinkStore
  readonly usage: UsageStore
  readonly sharedRows: SharedRowStore
  readonly locks: LockStore
  readonly deliveries: DeliveryStore
  readonly secrets: SecretStore
  readonly networkLog: NetworkLogStore
  readonly attachments: AttachmentStore
  readonly tenantRows: TenantRows
  readonly audit: AuditStore
  /** Rows whose `dueAt` is between `since` (default 0) and `now`, over all shards, earliest first. Eventually consistent. */
  due(now: number, limit: number, since?: number): Promise<readonly DueRow[]>
  /** Postpones a due row; a row that changed since it was found is not modified. */
  postpone(row: DueRow, dueAt: number): Promise<void>
  /** Resolves when every write so far survives a power failure. */
  flush(): Promise<void>
  /** The same table, whose rows `rows` counts and whose large values are stored in `objects`. */
  metered(meter: { readonly rows: RowMeter; readonly objects: ObjectStore }): Table
  /** Resolves when the table answers; rejects with the reason otherwise. */
  check(): Promise<void>
}
