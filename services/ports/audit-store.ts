import type { AuditBlock, AuditEntry } from '../model/audit/audit.ts'

export interface AuditStore {
  /** Appends a block to the tenant's chain. Concurrent calls append one after the other. At most 300 KB of JSON. */
  append(tenant: string, entries: readonly AuditEntry[], now: number): Promise<AuditBlock>
  /** At most `limit` entries, the newest first. Consistent. */
  recent(tenant: string, limit: number): Promise<readonly AuditEntry[]>
  /** The blocks that follow the one of this number, in their order; without it all. Consistent. */
  blocks(tenant: string, after?: number): AsyncIterable<AuditBlock>
}
