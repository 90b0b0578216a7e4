import { describe, expect, it } from 'vitest'
import { costOfMonth } from '../../../scripts/operate/cost/month-cost.ts'
import { costAtPeers, costOfSandboxTime } from '../../../scripts/operate/cost/peer-cost.ts'
import { sandboxHour } from '../../../scripts/operate/cost/sandbox-cost.ts'
import { costOfTurns } from '../../../scripts/operate/cost/turn-cost.ts'
import { FARGATE_PROFILE } from '../../../services/adapters/drivers/fargate/profile.ts'
import { total, TYPICAL, type Usage } from '../../../scripts/operate/cost/usage.ts'
import { PEER_COST, PEER_PRICES } from '../../../scripts/operate/peer-prices.ts'

const usage = (change: Partial<Usage>): Usage => ({ ...TYPICAL, ...change })
const lines = (change: Partial<Usage>) => Object.fromEntries(costOfTurns(usage(change)).map(({ name, usd }) => [name, usd]))
const bare = { turnsPerContainer: 1, gapSeconds: 0, startSeconds: 60, runSeconds: 120, idleSeconds: 300 } as const

describe('the cost of turns', () => {
  it('is the published hour for start, run and idle hold, each apart, worked out by hand', () => {
    // One container a turn: 60 s start, 120 s run, 300 s hold at 0.02913 dollars an hour.
    const found = lines({ ...bare, turns: 1_000 })
    expect(found['start']).toBeCloseTo((1000 * 60 * 0.02913) / 3600, 9)
    expect(found['run']).toBeCloseTo((1000 * 120 * 0.02913) / 3600, 9)
    expect(found['idle hold']).toBeCloseTo((1000 * 300 * 0.02913) / 3600, 9)
  })
  it('shares one start and one idle time among the turns of a conversation', () => {
    const one = lines({ ...bare, turnsPerContainer: 1 })
    const ten = lines({ ...bare, turnsPerContainer: 10, gapSeconds: 0 })
    expect(ten['start']).toBeCloseTo((one['start'] ?? 0) / 10, 9)
    expect(ten['idle hold']).toBeCloseTo((one['idle hold'] ?? 0) / 10, 9)
    expect(ten['run']).toBeCloseTo(one['run'] ?? 0, 9)
  })
  it('starts another sandbox after a pause that is longer than the idle time', () => {
    expect(lines({ gapSeconds: 400, idleSeconds: 300, turnsPerContainer: 5 })['start']).toBeCloseTo(
      5 * (lines({ gapSeconds: 200, idleSeconds: 300, turnsPerContainer: 5 })['start'] ?? 0),
      9,
    )
  })
  it('bills a task for a minute at least', () => {
    const short = lines({ turnsPerContainer: 1, runSeconds: 1, idleSeconds: 0, startSeconds: 10, gapSeconds: 0, turns: 1 })
    expect((short['start'] ?? 0) + (short['run'] ?? 0) + (short['idle hold'] ?? 0)).toBeCloseTo((60 * 0.02913) / 3600, 12)
  })
  it('has the sums of docs/cost.md, with half and a quarter of a vCPU', () => {
    const sum = (change: Partial<Usage>) => total(costOfTurns(usage({ idleSeconds: 106, diskGiB: 21, ...change }))).toFixed(2)
    expect([sum({}), sum({ idleSeconds: 61 }), sum({ idleSeconds: 1 })]).toEqual(['0.87', '0.80', '0.77'])
    const quarter = (change: Partial<Usage>) => sum({ vcpu: 0.25, ...change })
    expect([quarter({}), quarter({ idleSeconds: 61 }), quarter({ runSeconds: 4 })]).toEqual(['0.64', '0.59', '0.68'])
    const arm = { architecture: 'ARM64', spotShare: 1 } as const
    expect([sum(arm), quarter(arm)]).toEqual(['0.36', '0.31'])
  })
  it('grows with the number of turns and is never negative', () => {
    expect(total(costOfTurns(usage({ turns: 2_000 })))).toBeCloseTo(2 * total(costOfTurns(usage({ turns: 1_000 }))), 9)
    expect(costOfTurns(usage({ modelSeconds: 0, gapSeconds: 0, idleSeconds: 0 })).every(({ usd }) => usd >= 0)).toBe(true)
  })
  it('Spot and ARM are cheaper', () => {
    const onDemand = sandboxHour({ tier: '4g', architecture: 'X86_64', spotShare: 0, diskGiB: 20 })
    expect(sandboxHour({ tier: '4g', architecture: 'X86_64', spotShare: 1, diskGiB: 20 })).toBeCloseTo(0.3 * onDemand, 9)
    expect(sandboxHour({ tier: '4g', architecture: 'ARM64', spotShare: 0, diskGiB: 20 })).toBeLessThan(onDemand)
  })
  it('has the disk above 20 GiB', () => {
    const hourWith = (diskGiB: number): number => sandboxHour({ tier: '1g', architecture: 'X86_64', spotShare: 0, diskGiB })
    expect([20, 21, 200].map(hourWith)).toEqual([0, 1, 180].map((more) => expect.closeTo(0.02913 + more * 0.000111, 9)))
    expect(FARGATE_PROFILE.costPerSecond('1g', { architecture: 'X86_64', diskGiB: 200 })).toBeCloseTo(hourWith(200) / 3600, 12)
    expect(FARGATE_PROFILE.prices.maxUsdPerSecond).toBeGreaterThanOrEqual(
      FARGATE_PROFILE.costPerSecond('64g', { architecture: 'X86_64', diskGiB: 200 }),
    )
  })
})

describe('an idle month', () => {
  const month = (change: Partial<Parameters<typeof costOfMonth>[0]>) =>
    costOfMonth({
      endpointZones: 1,
      alarmMetrics: 20,
      uploadService: false,
      networkGateway: false,
      pool: {},
      architecture: 'X86_64',
      diskGiB: 20,
      spotShare: 0,
      ...change,
    })
  it('shows the upload service on a line, worked out by hand', () => {
    const line = month({ uploadService: true }).find(({ name }) => name === 'upload service')
    expect(line?.usd).toBeCloseTo(730 * (0.25 * 0.03238 + 2 * 0.00356 + 0.0225 + 0.005), 9)
    expect(month({}).some(({ name }) => name === 'upload service')).toBe(false)
  })
  it('shows the network gateway on a line, worked out by hand', () => {
    const line = month({ networkGateway: true }).find(({ name }) => name === 'network gateway')
    const seconds = 730 * 3600
    expect(line?.usd).toBeCloseTo(730 * (0.25 * 0.03238 + 0.5 * 0.00356 + 0.005) + 0.4 + (seconds * (4 * 0.125 + 0.2 * 0.625)) / 1e6, 9)
    expect(month({}).some(({ name }) => name === 'network gateway')).toBe(false)
  })
  it('marks what a setting removes or what depends on use', () => {
    const lines = month({ uploadService: true, networkGateway: true, rateLimit: true, pool: { '1g': 1 } })
    const optional = lines.filter(({ isOptional }) => isOptional === true).map(({ name }) => name)
    expect(optional).toEqual(['metrics', 'upload service', 'network gateway', 'rate limit', 'pool 1g'])
  })
  it('shows endpoints and each pool apart', () => {
    expect(month({}).find(({ name }) => name === 'endpoints')?.usd).toBeCloseTo(21.9, 9)
    expect(total(month({ endpointZones: 2 }))).toBeCloseTo(total(month({})) + 21.9, 9)
    const pools = month({ pool: { '1g': 2, '4g': 1, '16g': 0 } }).filter(({ name }) => name.startsWith('pool'))
    expect(pools.map(({ name, usd }) => [name, Math.round(usd * 100) / 100])).toEqual([
      ['pool 1g', 42.53],
      ['pool 4g', 49.02],
    ])
  })
})

describe('peers', () => {
  const session = { runSeconds: 10, heldSeconds: 600, cores: 0.5, memoryGb: 0.5 }
  it('are billed by their own rules', () => {
    expect(PEER_COST.e2b(session)).toBeCloseTo(600 * (0.000014 + 0.0000045), 12)
    expect(PEER_COST.agentcore(session)).toBeCloseTo((5 * 0.0895 + 300 * 0.00945) / 3600, 12)
    expect(PEER_COST.openai(session)).toBeCloseTo(10 * 0.0015, 12)
    expect(PEER_COST.openai({ ...session, heldSeconds: 3 })).toBeCloseTo(5 * 0.0015, 12)
  })
  it('each price names its source and the day it was read', () => {
    for (const { source, readOn, unit } of Object.values(PEER_PRICES)) {
      expect(source).toMatch(/^https:\/\//)
      expect(readOn).toMatch(/^20\d\d-\d\d-\d\d$/)
      expect(unit).not.toBe('')
    }
  })
  it('are all dearer for bare sandbox time, on either architecture', () => {
    for (const architecture of ['X86_64', 'ARM64'] as const) {
      const { ours, peers } = costOfSandboxTime(usage({ architecture }))
      for (const theirs of Object.values(peers)) expect(ours).toBeLessThan(theirs)
    }
  })
  it('keep their sessions as long as we keep ours, without our start', () => {
    const peers = costAtPeers(usage({ turns: 5, turnsPerContainer: 5, gapSeconds: 60, idleSeconds: 300, runSeconds: 2 }))
    expect(peers.openai).toBeCloseTo(Math.ceil((10 + 540) / 60) * 0.0015, 12)
  })
})
