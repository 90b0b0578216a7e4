import { TIERS, type MemoryTier } from '../../../core/limits.ts'
import { FARGATE_PRICES } from '../../../core/usage/fargate-prices.ts'
import type { Architecture, DriverProfile } from '../driver-profile.ts'

const HOURLY: Record<Architecture, { readonly vcpu: number; readonly gb: number }> = {
  X86_64: { vcpu: FARGATE_PRICES.fargateX86VcpuHour.usd, gb: FARGATE_PRICES.fargateX86GbHour.usd },
  ARM64: { vcpu: FARGATE_PRICES.fargateArmVcpuHour.usd, gb: FARGATE_PRICES.fargateArmGbHour.usd },
}

export const FARGATE_PROFILE: DriverProfile = {
  name: 'fargate',
  capabilities: { addressKinds: ['tcp'], reportsStarts: true, startMs: 60_000 },
  costPerSecond: fargateCostPerSecond,
}

/** On-demand list prices. */
export function fargateCostPerSecond(tier: MemoryTier, architecture: Architecture): number {
  const { fargateCpu, fargateMemoryMiB } = TIERS[tier]
  const { vcpu, gb } = HOURLY[architecture]
  return ((fargateCpu / 1024) * vcpu + (fargateMemoryMiB / 1024) * gb) / 3600
}
