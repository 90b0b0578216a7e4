import type { MemoryTier } from '../../core/limits.ts'
import type { DriverCapabilities } from '../../core/ports/sandbox-driver.ts'

export const ARCHITECTURES = ['X86_64', 'ARM64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

/** What is known of a platform without an instance of its driver. */
export interface DriverProfile {
  readonly name: string
  readonly capabilities: DriverCapabilities
  /** An estimate for one second of a sandbox of this tier, US dollars. */
  readonly costPerSecond: (tier: MemoryTier, architecture: Architecture) => number
}
