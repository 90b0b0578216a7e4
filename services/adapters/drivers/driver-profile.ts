import type { Duplex } from 'node:stream'
import type { ImageCatalogue } from '../../model/containers/images.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { DriverCapabilities, SandboxChange, SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import type { PriceList } from '../../model/usage/price-list.ts'

export const ARCHITECTURES = ['X86_64', 'ARM64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

/** What determines the price of a sandbox besides its tier. */
export interface SandboxShape {
  readonly architecture: Architecture
  readonly diskGiB?: number | undefined
  /** If the operator chose another number than the platform's for the tier. */
  readonly vcpu?: number | undefined
}

/** What is known of a platform without an instance of its driver. */
export interface DriverProfile {
  readonly name: string
  readonly capabilities: DriverCapabilities
  /** An estimate for one second of a sandbox of this tier, US dollars. */
  readonly costPerSecond: (tier: MemoryTier, shape: SandboxShape) => number
  readonly prices: PriceList
}

/** How the functions of a deployment use a platform. */
export interface DriverDeployment {
  /** Creates the driver from the function's environment. Throws a ZodError that names the variable at fault. */
  createDriver(images: ImageCatalogue): SandboxDriver
  /** The change of a sandbox in an event of the platform; null for any other event. */
  readEvent(event: unknown): SandboxChange | null
}

/** What a server on one machine asks of its sandboxes. */
interface HostOptions {
  /** Sandboxes of other stages on the same machine are never seen. */
  readonly stage: string
  readonly supervisor: Pick<Supervisor, 'health' | 'suspend'>
  readonly images: ImageCatalogue
  /** Another runtime of the engine; null for its default. */
  readonly runtime: string | null
  readonly transport: 'unix' | 'exec'
  /** The folder in which an engine proxy makes the folders of control sockets; null: the driver makes them. */
  readonly controlDir: string | null
  /** Python modules that a warm sandbox has imported; null leaves them to the image. */
  readonly preload: readonly string[] | null
  /** The folder from which `pip install` installs; null without one. */
  readonly wheelhouse: string | null
  /** Called when the platform has been asked to run a created sandbox. */
  readonly onRun: () => void
  readonly now: number
}

/** How a server on one machine uses a platform. */
export interface DriverHost {
  /** Opens a byte stream to the supervisor of a sandbox, for addresses of the kind `exec`. */
  readonly openRelay?: (sandbox: string) => Promise<Duplex>
  /** Creates the driver and removes the sandboxes of killed servers. Throws DriverError when the platform or the image is missing. */
  open(options: HostOptions): Promise<{
    readonly driver: SandboxDriver
    /** Tiers that fit into this machine's memory. */
    readonly memoryTiers: readonly MemoryTier[]
  }>
}

/** A platform that charges nothing per sandbox. */
export const NO_CHARGE = {
  costPerSecond: () => 0,
  prices: { asOf: '2026-11-21', region: 'local', maxUsdPerSecond: 0 },
} as const satisfies Pick<DriverProfile, 'costPerSecond' | 'prices'>
