import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Table } from '../../../ports/table.ts'
import { createAttachmentStore } from './attachment-store.ts'
import { createAuditStore } from './audit-store.ts'
import { createContainerStore } from './container-store.ts'
import { createConversationStore } from './conversation-store.ts'
import { findDue, postponeDue } from './due.ts'
import { createEventStore } from './event-store.ts'
import { createFileStore } from './file-store.ts'
import { createIdempotencyStore } from './idempotency-store.ts'
import type { Items } from './items.ts'
import { createDeliveryStore, createExecutionStore, createResponseStore } from './leased-stores.ts'
import { meterItems } from './meter-items.ts'
import { createLinkStore } from './link-store.ts'
import { createSandboxStore } from './sandbox-store.ts'
import { createSkillStore } from './skill-store.ts'
import { createTenantRows } from './tenant-rows.ts'
import { createTenantStore } from './tenant-store.ts'
import { createLockStore } from './lock-store.ts'
import { createSharedRowStore } from './shared-row-store.ts'
import { createNetworkLogStore } from './network-log-store.ts'
import { createSecretStore } from './secret-store.ts'
import { createUploadStore } from './upload-store.ts'
import { createUsageStore } from './usage-store.ts'
import { createUserFileStore } from './user-file-store.ts'

/** Every row store over one set of primitives. Event batches that are too large for an item are stored in `objects`. */
export function createTable(items: Items, objects: ObjectStore): Table {
  const tenants = createTenantStore(items)
  return {
    containers: createContainerStore(items),
    executions: createExecutionStore(items),
    responses: createResponseStore(items),
    files: createFileStore(items),
    userFiles: createUserFileStore(items),
    skills: createSkillStore(items),
    uploads: createUploadStore(items),
    conversations: createConversationStore(items, objects),
    sandboxes: createSandboxStore(items),
    events: createEventStore(items, objects),
    tenants,
    audit: createAuditStore(items),
    tenantRows: createTenantRows(items, tenants),
    idempotency: createIdempotencyStore(items),
    links: createLinkStore(items),
    usage: createUsageStore(items),
    sharedRows: createSharedRowStore(items),
    locks: createLockStore(items),
    deliveries: createDeliveryStore(items),
    secrets: createSecretStore(items),
    networkLog: createNetworkLogStore(items),
    attachments: createAttachmentStore(items),
    due: (now, limit, since = 0) => findDue(items, { now, limit, since }),
    postpone: (row, dueAt) => postponeDue(items, row, dueAt),
    metered: (meter) => createTable(meterItems(items, meter.rows), meter.objects),
    flush: () => items.flush(),
    check: async () => {
      await items.get({ pk: 'check', sk: 'row' })
    },
  }
}
