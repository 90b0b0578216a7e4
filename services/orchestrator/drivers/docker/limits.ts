import { TIERS, type MemoryTier } from '../../../core/limits.ts'

const MiB = 1024 * 1024

/** Sizes in bytes of what a sandbox may use; tmpfs contents live in memory and are paid for on top of the tier. */
export interface DockerLimits {
  readonly dataBytes: number
  readonly tmpBytes: number
  readonly homeBytes: number
  readonly shmBytes: number
  /** For the supervisor, which must outlive whatever the worker does. */
  readonly reserveBytes: number
  readonly cpus: number
  readonly processes: number
  readonly openFiles: number
}

export const DEFAULT_LIMITS: DockerLimits = {
  dataBytes: 1024 * MiB,
  tmpBytes: 256 * MiB,
  homeBytes: 64 * MiB,
  shmBytes: 128 * MiB,
  reserveBytes: 192 * MiB,
  cpus: 1,
  processes: 256,
  openFiles: 1_024,
}

/** The small writable folders that carry sockets and nothing else, bytes. */
export const RUN_BYTES = 16 * MiB

/** The container's memory limit: the tier, every tmpfs filled to its brim, and the supervisor's reserve. */
export const memoryLimitBytes = (tier: MemoryTier, limits: DockerLimits): number =>
  TIERS[tier].memoryBytes + limits.dataBytes + limits.tmpBytes + limits.homeBytes + limits.shmBytes + 3 * RUN_BYTES + limits.reserveBytes
