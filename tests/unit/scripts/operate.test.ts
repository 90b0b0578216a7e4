import { describe, expect, it } from 'vitest'
import { Config } from '../../../infra/config.ts'
import { costReport, costText, usageFrom } from '../../../scripts/operate/cost.ts'
import { readFlags, UsageError } from '../../../scripts/operate/flags.ts'
import { poolReport, poolText } from '../../../scripts/operate/pool-size.ts'
import { poolSizeFor } from '../../../services/core/sandboxes/pool-size.ts'

const config = Config.parse({
  stage: 'dev',
  sandboxes: { tiers: { '1g': { warm: 2 } }, architecture: 'ARM64', spotPercent: 50 },
  models: {},
  operations: { monthlyBudgetUsd: 10 },
})
const flags = (...args: string[]) =>
  readFlags(args, ['turns', 'per-container', 'run', 'gap', 'idle', 'start', 'model', 'tier', 'architecture', 'spot'])

describe('npm run cost', () => {
  it('takes what is not given from cdk.json', () => {
    expect(usageFrom(flags('--turns', '10'), config)).toMatchObject({ turns: 10, architecture: 'ARM64', spotShare: 0.5 })
    expect(usageFrom(flags('--spot', '0', '--architecture', 'X86_64'), config)).toMatchObject({ architecture: 'X86_64', spotShare: 0 })
  })
  it.each([
    [['--turns', '0'], '--turns must be a number from 1.'],
    [['--turns', ''], '--turns must be a number from 1.'],
    [['--spot', '101'], '--spot must be a number from 0 to 100.'],
    [['--tier', '2g'], '--tier must be one of 1g, 4g, 16g, 64g.'],
  ])('refuses %j in a sentence', (args, sentence) => {
    expect(() => usageFrom(flags(...args), config)).toThrow(new UsageError(sentence))
  })
  it('refuses an option that it does not know', () => {
    expect(() => flags('--turn', '5')).toThrow(UsageError)
  })
  it('shows start, hold, pool, endpoints and storage apart, with date, Region and peers', () => {
    const text = costText(costReport(usageFrom(flags(), config), config))
    for (const part of [
      'start',
      'idle hold',
      'endpoints',
      'pool 1g',
      'storage',
      'us-east-1',
      'E2B',
      'AgentCore',
      'OpenAI',
      'https://e2b.dev',
    ])
      expect(text).toContain(part)
    expect(text).toMatch(/read on 20\d\d-\d\d-\d\d/)
  })
})

describe('npm run pool-size', () => {
  const defaults = { architecture: 'X86_64', spotPercent: 0 } as const
  it('answers what the code that sizes the pool answers, in sandboxes a minute', () => {
    const report = poolReport(['--arrivals', '30', '--start', '40', '--wait', '5', '--share', '99'], defaults)
    expect(report.size).toBe(poolSizeFor({ arrivalsPerSecond: 0.5, startSeconds: 40, targetWaitSeconds: 5, share: 0.99 }))
    expect(report.usdPerMonth).toBeCloseTo(report.size * 0.02913 * 730, 6)
    expect(poolText(report)).toContain(`"1g": { "warm": ${report.size} }`)
  })
  it('warns if one Region cannot start that many', () => {
    expect(poolText(poolReport(['--arrivals', '1500'], defaults))).toContain('cells')
    expect(poolText(poolReport(['--arrivals', '60'], defaults))).not.toContain('cells')
  })
  it.each([[[]], [['--arrivals', 'many']], [['--arrivals', '1', '--share', '100']]])('refuses %j', (args) => {
    expect(() => poolReport(args, defaults)).toThrow(UsageError)
  })
})
