import { LIMITS, MEMORY_TIERS, TIERS, type MemoryTier } from '../../../model/limits.ts'
import { DEFAULT_SANDBOX, type SandboxLimits } from '../../../model/tenants/tenant-limits.ts'

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
  readonly fileBytes: number
  /** Of the data folder. */
  readonly inodes: number
}

export const DEFAULT_LIMITS: DockerLimits = {
  dataBytes: DEFAULT_SANDBOX.diskBytes,
  tmpBytes: 256 * MiB,
  homeBytes: 64 * MiB,
  shmBytes: 64 * MiB,
  reserveBytes: 192 * MiB,
  cpus: 1,
  processes: DEFAULT_SANDBOX.processes,
  openFiles: DEFAULT_SANDBOX.openFiles,
  fileBytes: DEFAULT_SANDBOX.fileBytes,
  inodes: DEFAULT_SANDBOX.inodes,
}

/** The small writable folders that carry sockets and nothing else, bytes. */
export const RUN_BYTES = 16 * MiB

/** The folder with the certificate of the network gateway and the socket of its proxy, bytes. */
export const NETWORK_BYTES = MiB

/** The folder of skills, bytes. */
export const SKILLS_BYTES = LIMITS.sandboxSkillBytes

/** The container's memory limit: the tier, every tmpfs filled to its brim, and the supervisor's reserve. */
export const memoryLimitBytes = (tier: MemoryTier, limits: DockerLimits): number =>
  TIERS[tier].memoryBytes +
  limits.dataBytes +
  limits.tmpBytes +
  limits.homeBytes +
  limits.shmBytes +
  SKILLS_BYTES +
  NETWORK_BYTES +
  3 * RUN_BYTES +
  limits.reserveBytes

/** The driver's limits with those that one sandbox has instead. */
export const withSandboxLimits = (limits: DockerLimits, own: SandboxLimits | null | undefined): DockerLimits => {
  if (own === null || own === undefined) return limits
  const { diskBytes, ...others } = own
  return { ...limits, ...others, dataBytes: diskBytes }
}

/** The tiers that fit into the memory of the engine's machine. The smallest one is always among them, because a sandbox rarely uses all that it may. */
export const tiersOfHost = ({ MemTotal: bytes = 0 }: { readonly MemTotal?: number }): MemoryTier[] =>
  MEMORY_TIERS.filter((tier) => tier === '1g' || memoryLimitBytes(tier, DEFAULT_LIMITS) <= bytes)
