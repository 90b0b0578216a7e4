import { TIERS, type MemoryTier } from '../core/limits.ts'

/** Fargate, Linux on ARM, us-east-1, on demand: dollars an hour, from AWS's public price page as of November 2026. */
const VCPU_HOUR = 0.03238
const GB_HOUR = 0.00356

/** An estimate for one second of a sandbox of this tier. The bill is AWS's. */
export function fargateCostPerSecond(tier: MemoryTier): number {
  const { fargateCpu, fargateMemoryMiB } = TIERS[tier]
  return ((fargateCpu / 1024) * VCPU_HOUR + (fargateMemoryMiB / 1024) * GB_HOUR) / 3600
}
