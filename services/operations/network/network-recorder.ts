import { createHash } from 'node:crypto'
import type { Container } from '../../model/containers/container.ts'
import { describeCause } from '../../model/describe-cause.ts'
import { newId } from '../../model/ids.ts'
import { boundEntry, entryId, NETWORK_LOG, type NetworkEntry } from '../../model/network/network-log.ts'
import { SHARED } from '../../model/network/secret.ts'
import { dayOf, sumUsage } from '../../model/usage/usage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NetworkRequestReport, NetworkUse } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'

interface Ports {
  readonly table: Pick<Table, 'containers' | 'networkLog' | 'secrets' | 'usage'>
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly audit: Pick<AuditLog, 'record'>
  readonly limits: Pick<LimitReader, 'of'>
}

interface Options {
  /** Reports are stored within this time, milliseconds. */
  readonly flushMs: number
  /** Called when the tenant has no bytes left today, for the container that reported last. */
  readonly onExhausted: (tenant: string, containerId: string) => Promise<void>
}

/** Entries of one container that wait for the table; the latest are dropped beyond it, and a log line counts them. */
const MAX_WAITING = 2_000
const MAX_TENANTS = 10_000
const MAX_CONTAINERS = 50_000

interface Totals {
  /** The record of the usage: of this process, for this container and day. */
  readonly id: string
  readonly day: string
  requests: number
  refused: number
  bytes: number
}

interface Buffer {
  readonly tenant: string
  readonly containerId: string
  entries: NetworkEntry[]
  dropped: number
  /** Null while nothing is written. */
  writing: Promise<void> | null
}

const totalsOf = (entries: readonly NetworkEntry[]): { readonly refused: number; readonly bytes: number } => ({
  refused: entries.filter(({ decision }) => decision === 'refused').length,
  bytes: entries.reduce((sum, { bytesUp, bytesDown }) => sum + bytesUp + bytesDown, 0),
})

/** Stores what the gateway reports: the log of each container, an entry of the audit log per batch with its digest, and the usage. */
export class NetworkRecorder implements NetworkUse {
  readonly #ports: Ports
  readonly #options: Options
  readonly #buffers = new Map<string, Buffer>()
  /** Records of the usage grow by the same id, so that a container costs one row per day and process. */
  readonly #totals = new Map<string, Totals>()
  readonly #today = new Map<string, { readonly day: string; bytes: Promise<number>; added: number }>()
  #timer: NodeJS.Timeout | null = null

  constructor(ports: Ports, options: Options) {
    this.#ports = ports
    this.#options = options
  }

  record({ tenant, containerId, ...entry }: NetworkRequestReport): void {
    const key = `${tenant} ${containerId}`
    const buffer = this.#buffers.get(key) ?? { tenant, containerId, entries: [], dropped: 0, writing: null }
    this.#buffers.set(key, buffer)
    if (buffer.entries.length >= MAX_WAITING) buffer.dropped++
    else buffer.entries.push(boundEntry(entry))
    this.#addToday(tenant, entry.bytesUp + entry.bytesDown)
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushMs).unref()
  }

  /** Bytes of the tenant in the present UTC day, with those that are not stored yet. */
  async bytesToday(tenant: string): Promise<number> {
    const day = dayOf(this.#ports.clock.now())
    let today = this.#today.get(tenant)
    if (today?.day !== day) {
      if (this.#today.size >= MAX_TENANTS) this.#today.clear()
      const bytes = this.#ports.table.usage.ofDay(tenant, day).then((records) => sumUsage(records).networkBytes)
      today = { day, bytes, added: 0 }
      this.#today.set(tenant, today)
      bytes.catch(() => this.#today.delete(tenant))
    }
    return (await today.bytes) + today.added
  }

  #addToday(tenant: string, bytes: number): void {
    const today = this.#today.get(tenant)
    if (today?.day === dayOf(this.#ports.clock.now())) today.added += bytes
  }

  /** Stores everything that waits. Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await Promise.all([...this.#buffers].map(([key, buffer]) => this.#flushOne(key, buffer)))
  }

  #flushOne(key: string, buffer: Buffer): Promise<void> {
    return (buffer.writing ??= this.#writeAll(key, buffer).finally(() => (buffer.writing = null)))
  }

  async #writeAll(key: string, buffer: Buffer): Promise<void> {
    const { tenant, containerId } = buffer
    try {
      while (buffer.entries.length > 0) await this.#writeWaiting(buffer)
      if (buffer.dropped > 0)
        this.#ports.telemetry.emit({ event: 'network', outcome: 'dropped', tenant, container_id: containerId, requests: buffer.dropped })
      this.#buffers.delete(key)
      const { networkBytesPerDay } = await this.#ports.limits.of(tenant)
      if ((await this.bytesToday(tenant)) >= networkBytesPerDay) await this.#options.onExhausted(tenant, containerId)
    } catch (cause) {
      // The next flush repeats what was not stored.
      this.#ports.telemetry.emit({ event: 'network', outcome: 'error', tenant, container_id: containerId, detail: describeCause(cause) })
      this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushMs).unref()
    }
  }

  /** The log has its entries row by row; the container, its secrets and the usage are written once for all of them. */
  async #writeWaiting(buffer: Buffer): Promise<void> {
    const { tenant, containerId } = buffer
    const container = await this.#ports.table.containers.get(tenant, containerId)
    const stored: NetworkEntry[] = []
    try {
      let last: number | null = null
      for (let waiting = buffer.entries.length; stored.length < waiting;) {
        const entries = buffer.entries.slice(0, Math.min(NETWORK_LOG.perBatch, waiting - stored.length))
        const first = await this.#ports.table.networkLog.append({ tenant, containerId }, entries, last)
        buffer.entries.splice(0, entries.length)
        stored.push(...entries)
        last = first + entries.length - 1
        await this.#recordAudit(buffer, { subject: container?.subject ?? null, first, entries })
      }
    } finally {
      if (stored.length > 0) await this.#count(buffer, container, stored)
    }
  }

  async #recordAudit(
    { tenant, containerId }: Buffer,
    { subject, first, entries }: { readonly subject: string | null; readonly first: number; readonly entries: readonly NetworkEntry[] },
  ): Promise<void> {
    const { refused, bytes } = totalsOf(entries)
    const targets = {
      container_id: containerId,
      first: entryId(first),
      last: entryId(first + entries.length - 1),
      allowed: String(entries.length - refused),
      refused: String(refused),
      bytes: String(bytes),
      sha256: createHash('sha256').update(JSON.stringify(entries)).digest('hex'),
    }
    const entry = {
      at: this.#ports.clock.now(),
      keyId: 'network_gateway',
      subject,
      action: 'networkRequests',
      status: 0,
      requestId: '',
      targets,
    }
    await this.#ports.audit.record(tenant, entry, false)
  }

  async #count(buffer: Buffer, container: Container | null, entries: readonly NetworkEntry[]): Promise<void> {
    const { tenant, containerId } = buffer
    const subject = container?.subject ?? null
    const { refused, bytes } = totalsOf(entries)
    if (container?.network?.bytes !== undefined && bytes > 0) await this.#ports.table.containers.addNetworkBytes(tenant, containerId, bytes)
    await this.#recordUsage(buffer, { subject, requests: entries.length, refused, bytes })
    await this.#noteSecrets({ tenant, containerId, subject }, entries)
  }

  async #noteSecrets(
    { tenant, containerId, subject }: { readonly tenant: string; readonly containerId: string; readonly subject: string | null },
    entries: readonly NetworkEntry[],
  ): Promise<void> {
    const { table, clock } = this.#ports
    const names = new Set(entries.flatMap(({ secret }) => secret?.split(',') ?? []))
    for (const name of names)
      for (const owner of [containerId, SHARED]) await table.secrets.noteUse({ tenant, owner, subject, name }, clock.now())
  }

  #totalsOf(key: string, { containerId, day }: { readonly containerId: string; readonly day: string }): Totals {
    const known = this.#totals.get(key)
    if (known?.day === day) return known
    const oldest = this.#totals.keys().next().value
    if (this.#totals.size >= MAX_CONTAINERS && oldest !== undefined) this.#totals.delete(oldest)
    const totals = { id: `${containerId}.${newId('event')}`, day, requests: 0, refused: 0, bytes: 0 }
    this.#totals.set(key, totals)
    return totals
  }

  async #recordUsage(
    buffer: Buffer,
    added: { readonly subject: string | null; readonly requests: number; readonly refused: number; readonly bytes: number },
  ): Promise<void> {
    const { tenant, containerId } = buffer
    const day = dayOf(this.#ports.clock.now())
    const totals = this.#totalsOf(`${tenant} ${containerId}`, { containerId, day })
    totals.requests += added.requests
    totals.refused += added.refused
    totals.bytes += added.bytes
    await this.#ports.table.usage.put({
      ...{ v: 1, tenant, subject: added.subject, executionId: totals.id, purpose: 'network', day },
      ...{ sandboxSeconds: 0, cpuMs: 0, peakMemoryBytes: 0, outputBytes: 0, costUsd: 0 },
      networkRequests: totals.requests,
      networkRefused: totals.refused,
      networkBytes: totals.bytes,
    })
  }
}
