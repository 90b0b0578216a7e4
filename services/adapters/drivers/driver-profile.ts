import type { ImageCatalogue } from '../../model/containers/images.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { DriverCapabilities, SandboxChange, SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { PriceList } from '../../model/usage/price-list.ts'

export const ARCHITECTURES = ['X86_64', 'ARM64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

/** What is known of a platform without an instance of its driver. */
export interface DriverProfile {
  readonly name: string
  readonly capabilities: DriverCapabilities
  /** An estimate for one second of a sandbox of this tier, US dollars. */
  readonly costPerSecond: (tier: MemoryTier, architecture: Architecture) => number
  readonly prices: PriceList
}

/** How the functions of a deployment use a platform. */
export interface DriverDeployment {
  /** Creates the driver from the function's environment. Throws a ZodError that names the variable at fault. */
  createDriver(images: ImageCatalogue): SandboxDriver
  /** The change of a sandbox in an event of the platform; null for any other event. */
  readEvent(event: unknown): SandboxChange | null
}

/** A platform that charges nothing per sandbox. */
export const NO_CHARGE = {
  costPerSecond: () => 0,
  prices: { asOf: '2026-11-21', region: 'local', maxUsdPerSecond: 0 },
} as const satisfies Pick<DriverProfile, 'costPerSecond' | 'prices'>
