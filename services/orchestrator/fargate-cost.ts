import { TIERS, type MemoryTier } from '../core/limits.ts'
import { FARGATE_PRICES } from '../core/usage/fargate-prices.ts'

export const ARCHITECTURES = ['X86_64', 'ARM64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

const HOURLY: Record<Architecture, { readonly vcpu: number; readonly gb: number }> = {
  X86_64: { vcpu: FARGATE_PRICES.fargateX86VcpuHour.usd, gb: FARGATE_PRICES.fargateX86GbHour.usd },
  ARM64: { vcpu: FARGATE_PRICES.fargateArmVcpuHour.usd, gb: FARGATE_PRICES.fargateArmGbHour.usd },
}

/** An estimate for one second of a sandbox of this tier, US dollars, on demand. The bill is AWS's. */
export function fargateCostPerSecond(tier: MemoryTier, architecture: Architecture): number {
  const { fargateCpu, fargateMemoryMiB } = TIERS[tier]
  const { vcpu, gb } = HOURLY[architecture]
  return ((fargateCpu / 1024) * vcpu + (fargateMemoryMiB / 1024) * gb) / 3600
}
