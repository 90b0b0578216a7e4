import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Config, readConfig } from '../../../infra/config.ts'
import { costReport, costText, usageFrom } from '../../../scripts/operate/cost.ts'
import { costHtml } from '../../../scripts/operate/cost-html.ts'
import { htmlReport } from '../../../scripts/report/html-report.ts'
import { readFlags, UsageError } from '../../../scripts/operate/flags.ts'
import { poolReport, poolText } from '../../../scripts/operate/pool-size.ts'
import { poolSizeFor } from '../../../services/model/sandboxes/pool-size.ts'

const config = Config.parse({
  stage: 'dev',
  sandboxes: { tiers: { '1g': { warm: 2 } }, architecture: 'ARM64', spotPercent: 50 },
  models: {},
  operations: { monthlyBudgetUsd: 10 },
})
const flags = (...args: string[]) =>
  readFlags(args, ['turns', 'per-container', 'run', 'gap', 'idle', 'start', 'model', 'tier', 'vcpu', 'architecture', 'spot'])

describe('npm run cost', () => {
  it('uses the settings of cdk.json where no option is given', () => {
    expect(usageFrom(flags('--turns', '10'), config)).toMatchObject({ turns: 10, architecture: 'ARM64', spotShare: 0.5 })
    expect(usageFrom(flags('--spot', '0', '--architecture', 'X86_64'), config)).toMatchObject({ architecture: 'X86_64', spotShare: 0 })
  })
  it('takes the idle time from the rule of the orchestrator, for these pauses and with a warm pool of the tier', () => {
    expect(usageFrom(flags(), config).idleSeconds).toBe(76)
    expect(usageFrom(flags('--tier', '4g'), config).idleSeconds).toBe(106)
    expect(usageFrom(flags('--tier', '4g', '--gap', '140'), config).idleSeconds).toBe(186.6)
    expect(usageFrom(flags('--tier', '4g', '--per-container', '1'), config).idleSeconds).toBe(301)
    expect(usageFrom(flags('--idle', '120'), config).idleSeconds).toBe(120)
  })
  it('states how long a hibernated container needs to run code again', () => {
    const report = (...args: string[]) => costText(costReport(usageFrom(flags(...args), config), config))
    expect(report()).toContain('wakes into a warm sandbox')
    expect(report('--tier', '4g')).toMatch(/wakes with a start: \d\d s \(p95\)/)
  })
  it('keeps 1,000 typical turns within the US dollars of docs/cost.md, without a pool', () => {
    const cost = (settings: object) => {
      const changed = { ...config, sandboxes: { ...config.sandboxes, ...settings } }
      return costReport(usageFrom(flags(), changed), changed).turns.total
    }
    const half = { tiers: { '1g': { warm: 0 } } }
    const quarter = { tiers: { '1g': { warm: 0, vcpu: 0.25 } } }
    const onDemand = { architecture: 'X86_64', spotPercent: 0 }
    const spot = { architecture: 'ARM64', spotPercent: 100 }
    expect(cost({ ...half, ...onDemand })).toBeLessThanOrEqual(0.88)
    expect(cost({ ...quarter, ...onDemand, hibernateAfterSeconds: 60 })).toBeLessThanOrEqual(0.6)
    expect(cost({ ...half, ...spot })).toBeLessThanOrEqual(0.37)
    for (const cheaper of [
      { ...quarter, ...spot },
      { ...half, ...spot, hibernateAfterSeconds: 60 },
    ])
      expect(cost(cheaper)).toBeLessThanOrEqual(0.35)
  })
  it('keeps an idle month with the default settings within 28 US dollars', () => {
    const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: { cellblock: object } }
    const defaults = readConfig(context.cellblock)
    expect(costReport(usageFrom(flags(), defaults), defaults).month.total).toBeLessThanOrEqual(28)
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
  it('follows the processor and the longest hold of cdk.json', () => {
    const { sandboxes } = config
    const changed = { sandboxes: { ...sandboxes, tiers: { '1g': { warm: 0, vcpu: 0.25 } }, hibernateAfterSeconds: 60 } }
    expect(usageFrom(flags(), changed)).toMatchObject({ vcpu: 0.25, idleSeconds: 61 })
    expect(usageFrom(flags('--vcpu', '0.5'), changed)).toMatchObject({ vcpu: 0.5 })
    expect(() => usageFrom(flags('--vcpu', '1'), changed)).toThrow('--vcpu must be one of 0.5, 0.25')
  })
  it('draws every part of its cost in the report', () => {
    const report = costReport(usageFrom(flags(), config), config)
    const html = htmlReport(costHtml(report))
    for (const { name } of [...report.turns.lines, ...report.month.lines]) expect(html).toContain(`>${name}</text>`)
    expect(html).not.toMatch(/NaN|Infinity/)
  })
})

describe('npm run pool-size', () => {
  const defaults = { architecture: 'X86_64', spotPercent: 0, diskGiB: 20, tiers: {} } as const
  it('returns the same size as the code that sizes the pool, for sandboxes per minute', () => {
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
