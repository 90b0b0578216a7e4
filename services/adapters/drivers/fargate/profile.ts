import { MEMORY_TIERS, type MemoryTier } from '../../../model/limits.ts'
import { ARCHITECTURES, type Architecture, type DriverProfile, type SandboxShape } from '../driver-profile.ts'
import { FARGATE_PRICES, PRICES_AS_OF, PRICES_REGION } from './prices.ts'
import { FARGATE_SIZES, vcpusOf } from './sizes.ts'

const HOURLY: Record<Architecture, { readonly vcpu: number; readonly gb: number }> = {
  X86_64: { vcpu: FARGATE_PRICES.fargateX86VcpuHour.usd, gb: FARGATE_PRICES.fargateX86GbHour.usd },
  ARM64: { vcpu: FARGATE_PRICES.fargateArmVcpuHour.usd, gb: FARGATE_PRICES.fargateArmGbHour.usd },
}

/** Included in the price of a task. */
const FREE_DISK_GIB = 20
/** The most that a task can have. */
const MAX_DISK_GIB = 200

/** One hour of a task, on demand, US dollars. */
export function fargateCostPerHour(tier: MemoryTier, { architecture, diskGiB = FREE_DISK_GIB, vcpu: chosen }: SandboxShape): number {
  const { vcpu, gb } = HOURLY[architecture]
  return (
    vcpusOf(tier, chosen) * vcpu +
    (FARGATE_SIZES[tier].memoryMiB / 1024) * gb +
    Math.max(0, diskGiB - FREE_DISK_GIB) * FARGATE_PRICES.fargateDiskGbHour.usd
  )
}

const fargateCostPerSecond = (tier: MemoryTier, shape: SandboxShape): number => fargateCostPerHour(tier, shape) / 3600

export const FARGATE_PROFILE = {
  name: 'fargate',
  capabilities: { addressKinds: ['tcp'], reportsStarts: true, startMs: 60_000 },
  costPerSecond: fargateCostPerSecond,
  prices: {
    asOf: PRICES_AS_OF,
    region: PRICES_REGION,
    maxUsdPerSecond: Math.max(
      ...MEMORY_TIERS.flatMap((tier) =>
        ARCHITECTURES.map((architecture) => fargateCostPerSecond(tier, { architecture, diskGiB: MAX_DISK_GIB })),
      ),
    ),
  },
} as const satisfies DriverProfile
