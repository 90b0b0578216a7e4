import { deliverAll, settle, sweep } from './settle.ts'
import type { Scenario } from './scenario.ts'
import { crashAt, prepare, startFixture, type Fixture } from './worker-crashes.ts'

/** Kills before and after each call, in the full form: more than 500 in all. */
const RUNS = 4
/** The short form tests every nth call. */
const SHORT_STEP = 5

/** The checkpoint of a suspended container is gone: the next job runs with the variables that were saved, and its result names the loss. */
async function loseCheckpoint(fixture: Fixture): Promise<readonly string[]> {
  const { harness, healthy, clockOffset, clock, finished } = fixture
  const { container } = await prepare(fixture, 'hibernated')
  for (const id of harness.platform.suspended.keys()) await harness.platform.kill(id)
  const [lost, next] = [await harness.accept(container, { now: clock.now() }), await harness.accept(container, { now: clock.now() })]
  await settle(harness, healthy, clockOffset, [lost, next])
  await deliverAll(harness, healthy)
  finished.push(container)
  await harness.observe(lost)
  await harness.observe(next)
  const named = harness.history.entries.flatMap((entry) =>
    entry.type === 'observed' && entry.lost.includes('processes') ? [entry.execution] : [],
  )
  return named.join() === lost.execution ? [] : [`the lost processes of ${lost.execution} are named by ${named.join(', ') || 'no result'}`]
}

/** Kills a worker before and after each of its port calls while a container is suspended and resumed, on a platform that keeps processes. */
export const suspensions: Scenario = {
  name: 'suspensions',
  thresholds: ['D-30'],
  async run({ scale, log }) {
    const fixture = await startFixture({ canSuspend: true })
    const points = new Set<string>()
    const step = scale < 0.1 ? SHORT_STEP : 1
    let kills = 0
    try {
      for (let round = 0; round < Math.max(1, Math.round(RUNS * scale)); round++)
        for (const setting of ['hibernating', 'hibernated'] as const)
          for (const when of ['before', 'after'] as const) {
            const step = scale < 0.1 ? SHORT_STEP : 1
            for (let at = when === 'before' ? 0 : Math.floor(step / 2); await crashAt(fixture, setting, at, when, points); at += step)
              kills++
          }
      await sweep(fixture.harness, fixture.healthy, fixture.clockOffset, fixture.finished.splice(0))
      const { history, platform } = fixture.harness
      const failures = history.entries.flatMap((entry) =>
        entry.type === 'observed' && entry.lost.length > 0 ? [`${entry.execution} lost ${entry.lost.join(', ')} by a killed worker`] : [],
      )
      const missed = ['suspend', 'resume'].filter((verb) => ![...points].some((point) => point.endsWith(`driver.suspension.${verb}`)))
      if (step === 1) failures.push(...missed.map((verb) => `no worker was killed at a ${verb}`))
      failures.push(...(await loseCheckpoint(fixture)))
      await sweep(fixture.harness, fixture.healthy, fixture.clockOffset, fixture.finished)
      const orphans = platform.alive.size + platform.suspended.size
      if (orphans > 0) failures.push(`${orphans} sandboxes or checkpoints remain`)
      log(`suspensions: ${points.size} points, ${kills} kills`)
      return { histories: [history], failures, figures: { suspension_points: points.size, suspension_kills: kills } }
    } finally {
      await fixture.harness.stop()
    }
  },
}
