import type { ImageCatalogue } from '../core/containers/images.ts'
import type { Admission } from '../core/ports/admission.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { ObjectStore } from '../core/ports/object-store.ts'
import type { Queue } from '../core/ports/queue.ts'
import type { SandboxDriver } from '../core/ports/sandbox-driver.ts'
import type { Signals } from '../core/ports/signals.ts'
import type { Supervisor } from '../core/ports/supervisor.ts'
import type { Table } from '../core/ports/table.ts'
import type { Telemetry } from '../core/ports/telemetry.ts'
import type { LimitReader } from '../core/tenants/limit-reader.ts'
import type { MemoryTier } from '../core/limits.ts'

interface Common {
  readonly table: Table
  readonly queue: Queue
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** Absent: the platform decides at a start. */
  readonly admission?: Admission
}

/** The run worker reaches sandboxes and never the compute API. */
export interface RunDeps extends Common {
  readonly objects: ObjectStore
  readonly supervisor: Supervisor
  /** Names this process in leases. */
  readonly workerId: string
  /** The images that new sandboxes get. */
  readonly images: ImageCatalogue
  /** A step hands over to a fresh message after this long, milliseconds: 50,000 unless a test says otherwise. */
  readonly stepBudgetMs: number
  /** Dollars per sandbox second, by tier, for the estimate in a result; 0 on one's own machine. */
  readonly costPerSecond: (tier: MemoryTier) => number
}

/** What a step works with besides. */
export interface StepDeps extends RunDeps {
  readonly limits: LimitReader
}

/** The place worker talks to the compute API and never to a sandbox. */
export interface PlaceDeps extends Common {
  readonly driver: SandboxDriver
  /** Warm sandboxes of the default image to hold, by tier. */
  readonly poolSizes: Partial<Record<MemoryTier, number>>
  /** How far the pool of a tier may grow when sandboxes are claimed often; it does not grow without a number here. */
  readonly poolCeilings?: Partial<Record<MemoryTier, number>>
  /** The same for other images, by name; none are held without a number here. */
  readonly imagePoolSizes?: Readonly<Record<string, Partial<Record<MemoryTier, number>>>>
  /** Starts that may be under way at once. */
  readonly maxStarts: number
  /** Dollars per sandbox second, by tier, for the metric; absent: none is reported. */
  readonly costPerSecond?: (tier: MemoryTier) => number
}

export interface ReconcilerDeps extends PlaceDeps {
  /** A container hibernates after this long without use, milliseconds. */
  readonly hibernateAfterMs: number
  readonly objects: ObjectStore
  readonly workerId: string
}
