import { describe, expect, it } from 'vitest'
import { MEMORY_TIERS, TIERS } from '../../../services/model/limits.ts'
import { PRICES } from '../../../scripts/operate/aws-prices.ts'
import { costPerSecondFrom, runConfigFromEnv } from '../../../services/entries/aws/config.ts'
import { FARGATE_PROFILE } from '../../../services/adapters/drivers/fargate/profile.ts'

const { costPerSecond: fargateCostPerSecond, prices } = FARGATE_PROFILE

describe('the estimated cost of a sandbox second', () => {
  it('is the published hourly price of its CPU and memory for its architecture', () => {
    // 0.5 vCPU and 2 GB for an hour, calculated by hand from the price page.
    expect(fargateCostPerSecond('1g', { architecture: 'X86_64' }) * 3600).toBeCloseTo(0.02024 + 0.00889, 10)
    expect(fargateCostPerSecond('1g', { architecture: 'ARM64' }) * 3600).toBeCloseTo(0.01619 + 0.00712, 10)
  })

  it('follows the processor that the operator chose for a tier', () => {
    const shape = { architecture: 'X86_64', diskGiB: 20, vcpu: 0.25 } as const
    expect(fargateCostPerSecond('1g', shape) * 3600).toBeCloseTo(0.01012 + 0.00889, 10)
    const env = {
      AWS_REGION: 'x',
      STAGE: 'x',
      TABLE_NAME: 'x',
      BUCKET_NAME: 'x',
      SANDBOX_IMAGES: '{"slim":"x"}',
      SANDBOX_ARCHITECTURE: 'X86_64',
    }
    const queues = {
      TURNS_QUEUE_URL: 'https://x.example',
      EXECUTIONS_QUEUE_URL: 'https://x.example',
      PLACEMENTS_QUEUE_URL: 'https://x.example',
    }
    const costPerSecond = costPerSecondFrom(runConfigFromEnv({ ...env, ...queues, SANDBOX_VCPUS: '{"1g":0.25}' }))
    expect(costPerSecond('1g')).toBe(fargateCostPerSecond('1g', shape))
    expect(costPerSecond('4g')).toBe(fargateCostPerSecond('4g', { architecture: 'X86_64' }))
  })

  it('is higher on x86 than on ARM in every tier, and grows with the tier', () => {
    for (const tier of MEMORY_TIERS)
      expect(fargateCostPerSecond(tier, { architecture: 'X86_64' })).toBeGreaterThan(fargateCostPerSecond(tier, { architecture: 'ARM64' }))
    const bySize = MEMORY_TIERS.toSorted((a, b) => TIERS[a].memoryBytes - TIERS[b].memoryBytes)
    expect(bySize.map((tier) => fargateCostPerSecond(tier, { architecture: 'X86_64' }))).toEqual(
      bySize.map((tier) => fargateCostPerSecond(tier, { architecture: 'X86_64' })).toSorted((a, b) => a - b),
    )
  })

  it('is at most the maximum by which budgets are checked', () => {
    // The largest task on x86: 16 vCPU, 80 GB and 180 GB of disk beyond the free 20 for an hour, calculated by hand from the price page.
    expect(prices.maxUsdPerSecond * 3600).toBeCloseTo(16 * 0.04048 + 80 * 0.004445 + 180 * 0.000111, 10)
    for (const tier of MEMORY_TIERS)
      expect(fargateCostPerSecond(tier, { architecture: 'X86_64' })).toBeLessThanOrEqual(prices.maxUsdPerSecond)
  })

  it('has a source and a unit for every price, and one date and Region', () => {
    expect(prices.asOf).toMatch(/^20\d\d-\d\d-\d\d$/)
    expect(prices.region).toMatch(/^[a-z]{2}-[a-z]+-\d$/)
    for (const { usd, unit, source } of Object.values(PRICES)) {
      expect(usd).toBeGreaterThan(0)
      expect(unit).not.toBe('')
      expect(source).toMatch(/^https:\/\/aws\.amazon\.com\/.+\/pricing\/$/)
    }
  })
})
