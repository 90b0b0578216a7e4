import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../scripts/operate/flags.ts'
import { simulationHtml, type SimulationReport } from '../../../scripts/operate/simulate-html.ts'
import { htmlReport } from '../../../scripts/report/html-report.ts'
import { durationOption, expectationText, simulationText, thresholdsOf } from '../../../scripts/operate/simulate.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { openCell } from '../../../scripts/operate/simulate/cell.ts'
import { openContainer } from '../../../scripts/operate/simulate/client-load.ts'
import { simulateBurst } from '../../../scripts/operate/simulate/burst.ts'
import { simulateDepartures } from '../../../scripts/operate/simulate/departures.ts'
import { simulatePool } from '../../../scripts/operate/simulate/pool.ts'
import { MINUTE_LEGEND, simulateSteady } from '../../../scripts/operate/simulate/steady.ts'
import { TokenBucket } from '../../../scripts/operate/simulate/token-bucket.ts'
import { seededRandom, VirtualTime } from '../../../scripts/operate/simulate/virtual-time.ts'

describe('the simulated clock', () => {
  it('runs timers in the order of their times, and what they wake before the next one', async () => {
    const time = new VirtualTime(1_000)
    const seen: string[] = []
    const wait = async (name: string, ms: number): Promise<void> => {
      await time.sleep(ms)
      seen.push(`${name} ${time.now()}`)
      if (name === 'a') await wait('b', 5)
    }
    void wait('c', 20)
    void wait('a', 10)
    await time.runUntil(1_018)
    expect(seen).toEqual(['a 1010', 'b 1015'])
    await time.runUntil(1_100)
    expect([seen.at(-1), time.now()]).toEqual(['c 1020', 1_100])
  })

  it('repeats the same numbers for the same seed', () => {
    const [one, same, other] = [seededRandom(1), seededRandom(1), seededRandom(2)]
    expect([one(), one()]).toEqual([same(), same()])
    expect(one()).not.toBe(other())
  })
})

describe('a token bucket', () => {
  it('allows its burst at once and its rate afterwards', () => {
    let now = 0
    const bucket = new TokenBucket(100, 20, () => now)
    const taken = (calls: number): number => Array.from({ length: calls }, () => bucket.take()).filter(Boolean).length
    expect(taken(150)).toBe(100)
    now += 1_000
    expect(taken(150)).toBe(20)
    now += 60_000
    expect(taken(150)).toBe(100)
  })
  it('of a smaller model has a larger burst for its rate', () => {
    let now = 0
    const bucket = TokenBucket.scaled({ burst: 100, perSecond: 100 }, 25, () => now)
    const taken = (calls: number): number => Array.from({ length: calls }, () => bucket.take()).filter(Boolean).length
    expect(taken(150)).toBe(20)
    now += 1_000
    expect(taken(150)).toBe(4)
  })
})

describe('a simulated cell', () => {
  it('keeps its load alive with few reads, finds dead sandboxes and loses no execution', async () => {
    const report = await simulateSteady({ containers: 20, lifetimeSeconds: 120, measuredSeconds: 120, runSeconds: 1, seed: 1 })
    expect(report.throttled.reads).toBe(0)
    expect(report.dead_letters).toBe(0)
    expect(report.ecs_reads_per_second).toBeLessThan(1)
    expect(report.executions.succeeded).toBeGreaterThan(20)
    expect(report.executions.other).toBe(0)
    expect(report.dead_sandbox_ms.not_found).toBe(0)
    expect(report.first_execution_ms.p50).toBeGreaterThan(45_000)
  })

  it.each([1, 2, 3, 4, 5])('drains a burst at the rate at which Fargate starts tasks (seed %i)', async (seed) => {
    const report = await simulateBurst({ claims: 160, seed })
    expect(report).toMatchObject({ failed_executions: 0 })
    expect(report.starts_per_second).toBeGreaterThan(17)
    expect(report.starts_per_second).toBeLessThanOrEqual(23)
    expect(report.throttled_starts).toBeGreaterThan(0)
  })

  it('fills a pool to its size and no further', async () => {
    expect(await simulatePool({ size: 40, seed: 1 })).toMatchObject({ size: 40, overshoot: 0 })
  })
})

describe('a table that throttles every attempt of a client', () => {
  it('fails the call, which is counted and repeated until it succeeds', async () => {
    // A burst of 4,000 write units, then one per second; each container takes two.
    const containers = 2_050
    const cell = await openCell({ seed: 1, runSeconds: 1, poolSize: 0, scale: 4_000 })
    try {
      const created: (Container | null)[] = []
      for (let count = 0; count < containers; count++) void openContainer(cell, Number.POSITIVE_INFINITY).then((one) => created.push(one))
      await cell.time.runUntil(cell.time.now() + 60_000)
      expect(cell.tableCounts.failed).toBeGreaterThan(0)
      expect(created.length).toBeLessThan(containers)
      await cell.time.runUntil(cell.time.now() + 600_000)
      expect(created.filter((one) => one !== null)).toHaveLength(containers)
    } finally {
      await cell.close()
    }
  })
})

describe('clients that disconnect at once', () => {
  it('hold at most half of the functions of the API, and Lambda refuses no call', async () => {
    const report = await simulateDepartures({ clients: 3, seconds: 6, seed: 1 })
    expect(report.held_max).toBeGreaterThan(report.functions / 3)
    expect(report.held_max).toBeLessThanOrEqual(Math.ceil(report.functions / 2))
    expect(report.refused).toBeGreaterThan(500)
    expect(report.throttled_functions).toBe(0)
  })
})

describe('npm run simulate', () => {
  it.each([
    ['90s', 90],
    ['10m', 600],
    ['1h', 3_600],
    [undefined, 7],
  ])('reads the duration %s as %i seconds', (text, seconds) => {
    expect(durationOption(text === undefined ? {} : { lifetime: text }, 'lifetime', 7)).toBe(seconds)
  })
  it.each(['10', '0m', 'm', '1.5h'])('refuses the duration %s', (text) => {
    expect(() => durationOption({ lifetime: text }, 'lifetime', 7)).toThrow(UsageError)
  })

  it('expects a time by the sizes', () => {
    expect(expectationText({ containers: 10_000, simulatedSeconds: 1_200, claims: 1_000 })).toContain('about 3 min')
    expect(expectationText({ containers: 0, simulatedSeconds: 0, claims: 0 })).toContain('some seconds')
  })

  it('names each threshold and whether it holds', () => {
    const pool = { size: 5, requested_seconds: 1, ready_seconds: 60, starts_per_second: 5, overshoot: 1 }
    const parts = { steady: null, burst: null, pool, departures: null }
    const thresholds = thresholdsOf(parts)
    expect(thresholds.map(({ holds }) => holds)).toEqual([false, false])
    expect(simulationText({ ...parts, thresholds })).toContain('FAIL a pool is filled without overshoot')
  })

  it('prints JSON and writes a report with charts beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-simulate-'))
    const html = join(folder, 'report.html')
    try {
      const script = join(import.meta.dirname, '../../../scripts/operate/simulate.ts')
      const sizes = ['--containers', '4', '--lifetime', '60s', '--measure', '60s', '--burst', '4', '--pool', '4', '--departing', '4s']
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...sizes, '--json', '--html', html]).catch(
        // A cell of four containers starts too few to keep the thresholds of rates.
        (error: { readonly stdout: string; readonly stderr: string }) => error,
      )
      expect(stderr).toMatch(/^Takes some seconds of one processor core/)
      expect(stderr).toContain(MINUTE_LEGEND)
      const report = JSON.parse(stdout) as SimulationReport
      expect(report).toMatchObject({
        steady: { dead_letters: 0, timed_out: 0 },
        burst: { claims: 4 },
        pool: { size: 4 },
        departures: { clients: 40 },
      })
      const page = await readFile(html, 'utf8')
      expect(page).toBe(htmlReport(simulationHtml(report)))
      expect(page.match(/<svg /g)).toHaveLength(5)
      for (const part of [
        'Thresholds',
        'Concurrent functions',
        'throttled: starts and stops',
        'A burst of 4 claims',
        'A pool of 4 sandboxes',
        'Departing clients of one tenant',
      ])
        expect(page).toContain(part)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
