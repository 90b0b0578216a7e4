import { MEMORY_TIERS, type MemoryTier } from '../../../model/limits.ts'
import { ARCHITECTURES, type Architecture, type DriverProfile } from '../driver-profile.ts'
import { FARGATE_PRICES, PRICES_AS_OF, PRICES_REGION } from './prices.ts'
import { FARGATE_SIZES } from './sizes.ts'

const HOURLY: Record<Architecture, { readonly vcpu: number; readonly gb: number }> = {
  X86_64: { vcpu: FARGATE_PRICES.fargateX86VcpuHour.usd, gb: FARGATE_PRICES.fargateX86GbHour.usd },
  ARM64: { vcpu: FARGATE_PRICES.fargateArmVcpuHour.usd, gb: FARGATE_PRICES.fargateArmGbHour.usd },
}

/** One hour of a task, on demand, US dollars. */
export function fargateCostPerHour(tier: MemoryTier, architecture: Architecture): number {
  const { cpu, memoryMiB } = FARGATE_SIZES[tier]
  const { vcpu, gb } = HOURLY[architecture]
  return (cpu / 1024) * vcpu + (memoryMiB / 1024) * gb
}

const fargateCostPerSecond = (tier: MemoryTier, architecture: Architecture): number => fargateCostPerHour(tier, architecture) / 3600

export const FARGATE_PROFILE = {
  name: 'fargate',
  capabilities: { addressKinds: ['tcp'], reportsStarts: true, startMs: 60_000 },
  costPerSecond: fargateCostPerSecond,
  prices: {
    asOf: PRICES_AS_OF,
    region: PRICES_REGION,
    maxUsdPerSecond: Math.max(
      ...MEMORY_TIERS.flatMap((tier) => ARCHITECTURES.map((architecture) => fargateCostPerSecond(tier, architecture))),
    ),
  },
} as const satisfies DriverProfile
