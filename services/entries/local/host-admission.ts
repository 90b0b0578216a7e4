import { readFile, statfs } from 'node:fs/promises'
import type { MemoryTier } from '../../model/limits.ts'
import type { Admission } from '../../ports/admission.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/** Free resources of this machine, bytes. Null: unknown, which never refuses a start. */
export interface HostCapacity {
  readonly memoryBytes: number | null
  readonly diskBytes: number | null
}

/** Resident memory of a sandbox soon after its start, with the modules that it preloads, bytes. */
const START_BYTES = 192 * 1024 ** 2
/** An admitted start uses its memory within this time, milliseconds; until then it is subtracted from the free memory. */
const PENDING_MS = 10_000

/**
 * Admits starts while the machine keeps a reserve of memory and disk. Without it, the kernel would end a process of another tenant, or the
 * server, when memory runs out. A refused execution stays queued, and a sandbox that stops frees memory for it.
 */
export class HostAdmission implements Admission {
  readonly #capacity: () => Promise<HostCapacity>
  readonly #reserveBytes: number
  readonly #clock: Clock
  readonly #telemetry: Telemetry
  #pending: number[] = []

  constructor(options: {
    readonly capacity: () => Promise<HostCapacity>
    readonly reserveBytes: number
    readonly clock: Clock
    readonly telemetry: Telemetry
  }) {
    this.#capacity = options.capacity
    this.#reserveBytes = options.reserveBytes
    this.#clock = options.clock
    this.#telemetry = options.telemetry
  }

  async admits(memoryTier: MemoryTier, purpose: 'execution' | 'pool'): Promise<boolean> {
    const { memoryBytes, diskBytes } = await this.#capacity()
    const now = this.#clock.now()
    this.#pending = this.#pending.filter((startedAt) => now - startedAt < PENDING_MS)
    const reserve = purpose === 'pool' ? 2 * this.#reserveBytes : this.#reserveBytes
    const needed = reserve + (this.#pending.length + 1) * START_BYTES
    const isAdmitted = (memoryBytes === null || memoryBytes >= needed) && (diskBytes === null || diskBytes >= reserve)
    if (isAdmitted) this.#pending.push(now)
    else
      this.#telemetry.emit({
        event: 'admission',
        outcome: 'refused',
        tier: memoryTier,
        purpose,
        memory_bytes: memoryBytes,
        disk_bytes: diskBytes,
        reserve_bytes: reserve,
      })
    return isAdmitted
  }
}

/** Reads the free resources of this machine; memory only on Linux, where the engine uses the same kernel. */
export async function readHostCapacity(folder: string): Promise<HostCapacity> {
  const [meminfo, disk] = await Promise.all([
    readFile('/proc/meminfo', 'utf8').catch(() => ''),
    statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => null,
    ),
  ])
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1]
  return { memoryBytes: available === undefined ? null : Number(available) * 1024, diskBytes: disk }
}
