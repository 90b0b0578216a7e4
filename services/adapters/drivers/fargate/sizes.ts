import type { MemoryTier } from '../../../model/limits.ts'

interface TierSizes {
  /** vCPUs that Fargate offers with this memory and that are enough for a sandbox; the first is the default. */
  readonly vcpus: readonly [number, ...number[]]
  /** The tier's memory for user code, every tmpfs and the supervisor. */
  readonly memoryMiB: number
}

/** The task sizes of each tier. */
export const FARGATE_SIZES: Readonly<Record<MemoryTier, TierSizes>> = {
  '1g': { vcpus: [0.5, 0.25], memoryMiB: 2048 },
  '4g': { vcpus: [1], memoryMiB: 6144 },
  '16g': { vcpus: [4], memoryMiB: 20480 },
  '64g': { vcpus: [16], memoryMiB: 81920 },
}

/** The vCPUs of a tier; `chosen` is the operator's choice. */
export const vcpusOf = (tier: MemoryTier, chosen?: number): number => chosen ?? FARGATE_SIZES[tier].vcpus[0]
