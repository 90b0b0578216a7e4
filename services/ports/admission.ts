import type { MemoryTier } from '../model/limits.ts'

/** Whether the machine has capacity for one more sandbox, over all tenants. Absent where the platform itself decides at the start. */
export interface Admission {
  /** A start for the pool needs more free capacity than one that an execution waits for. An admitted start counts from then on. */
  admits(memoryTier: MemoryTier, purpose: 'execution' | 'pool'): Promise<boolean>
}
