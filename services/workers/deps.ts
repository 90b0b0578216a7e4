import type { ImageCatalogue } from '../model/containers/images.ts'
import type { ExecutionSlots } from '../operations/executions/execution-slots.ts'
import type { Admission } from '../ports/admission.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { NetworkPorts } from '../ports/network-gateway.ts'
import type { Queue } from '../ports/queue.ts'
import type { SandboxDriver } from '../ports/sandbox-driver.ts'
import type { Signals } from '../ports/signals.ts'
import type { Supervisor } from '../ports/supervisor.ts'
import type { Table } from '../ports/table.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { LimitReader } from '../operations/tenancy/limit-reader.ts'
import type { ResourceCount } from '../operations/tenancy/resource-count.ts'
import type { MemoryTier } from '../model/limits.ts'

interface Common {
  readonly table: Table
  readonly queue: Queue
  readonly signals: Signals
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** Dollars per sandbox second, by tier; 0 on a local machine. */
  readonly costPerSecond: (tier: MemoryTier) => number
  /** If absent, the platform accepts or refuses each start. */
  readonly admission?: Admission
}

/** The run worker connects to sandboxes and never calls the compute API. */
export interface RunDeps extends Common {
  readonly objects: ObjectStore
  readonly supervisor: Supervisor
  /** The gateway of sandboxes with a network; absent: none has one. */
  readonly network?: NetworkPorts
  /** Names this process in leases. */
  readonly workerId: string
  /** The images that new sandboxes get. */
  readonly images: ImageCatalogue
  /** Whether the platform can keep the processes of an idle sandbox (`SandboxDriver.suspension`); absent: it hibernates. */
  readonly canSuspend?: boolean
  /** A step hands over to a new message after this time, milliseconds: 50,000 except in tests. */
  readonly stepBudgetMs: number
}

/** The dependencies of one run step. */
export interface StepDeps extends RunDeps {
  readonly limits: LimitReader
  /** What each tenant stores. */
  readonly storage: ResourceCount
  /** How many executions of each tenant run. */
  readonly slots: ExecutionSlots
}

/** The place worker calls the compute API and never connects to a sandbox. */
export interface PlaceDeps extends Common {
  readonly driver: SandboxDriver
  /** Minimum number of warm sandboxes of the default image, by tier. */
  readonly poolSizes: Partial<Record<MemoryTier, number>>
  /** Maximum size of a tier's pool, which grows with the rate of claims; without a number it has its minimum size. */
  readonly poolCeilings?: Partial<Record<MemoryTier, number>>
  /** Minimum pool sizes of other images, by name; 0 without a number. */
  readonly imagePoolSizes?: Readonly<Record<string, Partial<Record<MemoryTier, number>>>>
  /** Maximum number of concurrent starts. */
  readonly maxStarts: number
}

/** The dependencies of one repair. */
export interface RepairDeps extends ReconcilerDeps {
  readonly limits: LimitReader
}

export interface ReconcilerDeps extends PlaceDeps {
  /** A container hibernates after this long without use, milliseconds. */
  readonly hibernateAfterMs: number
  /**
   * It hibernates after this long, milliseconds, while a warm sandbox waits to wake it; the pauses of its conversation change both times. Absent:
   * always after `hibernateAfterMs`.
   */
  readonly earlySleepMs?: number
  /** Time from one pass to the next, milliseconds: a hibernation before the next pass is sent with a delay. Absent: passes are frequent. */
  readonly betweenPassesMs?: number
  readonly objects: ObjectStore
  readonly workerId: string
}
