import type { AuditBlock, AuditEntry } from '../model/audit/audit.ts'

export interface AuditStore {
  /** Appends a block to the tenant's chain. Concurrent calls append one after the other. At most 300 KB of JSON. */
  append(tenant: string, entries: readonly AuditEntry[], now: number): Promise<AuditBlock>
  /** At most `limit` entries, the newest first. Consistent. */
  recent(tenant: string, limit: number): Promise<readonly AuditEntry[]>
  /** All blocks in their order. Consistent. */
  blocks(tenant: string): AsyncIterable<AuditBlock>
}
