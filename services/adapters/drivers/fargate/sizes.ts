import type { MemoryTier } from '../../../model/limits.ts'

/** The task size of each tier, CPU units and MiB: the tier's memory for user code, every tmpfs and the supervisor. */
export const FARGATE_SIZES: Readonly<Record<MemoryTier, { readonly cpu: number; readonly memoryMiB: number }>> = {
  '1g': { cpu: 512, memoryMiB: 2048 },
  '4g': { cpu: 1024, memoryMiB: 6144 },
  '16g': { cpu: 4096, memoryMiB: 20480 },
  '64g': { cpu: 16384, memoryMiB: 81920 },
}
