import type { AuditEntry } from '../../model/audit/audit.ts'
import { describeCause } from '../../model/describe-cause.ts'
import type { AuditStore } from '../../ports/audit-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/** Entries of one block, and entries of one tenant that wait while the table cannot be written; beyond that the oldest are dropped and reported. */
const MAX_BLOCK = 200
const MAX_WAITING = 10_000

/** Entries that were dropped since the last write. */
interface Dropped {
  readonly count: number
  readonly first: AuditEntry
  readonly last: AuditEntry
}

interface Ports {
  readonly table: { readonly audit: AuditStore }
  readonly clock: Clock
  readonly telemetry: Telemetry
}

/**
 * Collects the entries of each tenant and appends them as blocks, so that a busy tenant costs one write per `flushMs` and not one per request.
 * An entry that `isDurable` is stored before the answer leaves.
 */
export class AuditLog {
  readonly #ports: Ports
  readonly #flushMs: number
  readonly #waiting = new Map<string, AuditEntry[]>()
  readonly #dropped = new Map<string, Dropped>()
  readonly #writes = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | null = null

  /** `flushMs` 0 stores every entry before the answer. */
  constructor(ports: Ports, flushMs: number) {
    this.#ports = ports
    this.#flushMs = flushMs
  }

  async record(tenant: string, entry: AuditEntry, isDurable: boolean): Promise<void> {
    const waiting = this.#waiting.get(tenant) ?? []
    waiting.push(entry)
    this.#waiting.set(tenant, waiting)
    if (waiting.length > MAX_WAITING) this.#drop(tenant, waiting.shift() ?? entry)
    if (isDurable || this.#flushMs === 0) return this.#flush(tenant)
    if (this.#timer !== null) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      for (const one of this.#waiting.keys()) void this.#flush(one)
    }, this.#flushMs).unref()
  }

  /** The log line has what the chain lacks. The chain gets one entry about all dropped ones. */
  #drop(tenant: string, entry: AuditEntry): void {
    const { at, keyId, subject, action, status, requestId } = entry
    this.#ports.telemetry.emit({
      event: 'audit',
      outcome: 'dropped',
      tenant,
      entry_at: at,
      key_id: keyId,
      subject,
      action,
      status,
      request_id: requestId,
      targets: JSON.stringify(entry.targets),
    })
    const { count = 0, first = entry } = this.#dropped.get(tenant) ?? {}
    this.#dropped.set(tenant, { count: count + 1, first, last: entry })
  }

  /** One write per tenant at a time, so that the process does not compete with itself for the next place in the chain. */
  async #flush(tenant: string): Promise<void> {
    const write = (this.#writes.get(tenant) ?? Promise.resolve()).then(() => this.#write(tenant))
    this.#writes.set(tenant, write)
    await write
    if (this.#writes.get(tenant) === write) this.#writes.delete(tenant)
  }

  async #write(tenant: string): Promise<void> {
    for (;;) {
      const waiting = (this.#waiting.get(tenant) ?? []).slice(0, MAX_BLOCK)
      const dropped = this.#dropped.get(tenant)
      const entries = dropped === undefined ? waiting : [droppedEntry(dropped), ...waiting]
      if (entries.length === 0) {
        this.#waiting.delete(tenant)
        return
      }
      try {
        await this.#ports.table.audit.append(tenant, entries, this.#ports.clock.now())
      } catch (cause) {
        // The next entry of the tenant repeats the write. A request does not fail because of its audit entry.
        this.#ports.telemetry.emit({ event: 'audit', outcome: 'error', tenant, entries: entries.length, detail: describeCause(cause) })
        return
      }
      this.#waiting.get(tenant)?.splice(0, waiting.length)
      // More may have been dropped during the write; their log lines have them.
      if (dropped !== undefined) this.#dropped.delete(tenant)
    }
  }
}

/** The entry in the chain that stands for dropped ones. */
const droppedEntry = ({ count, first, last }: Dropped): AuditEntry => ({
  at: last.at,
  keyId: '',
  subject: null,
  action: 'auditEntriesDropped',
  status: 0,
  requestId: last.requestId,
  targets: { count: String(count), first_request_id: first.requestId, last_request_id: last.requestId },
})
