import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { pauseAt } from '../harness/barrier.ts'
import { createWorker } from '../harness/worker.ts'
import type { Message } from '../harness/manual-queue.ts'
import type { Job } from '../history.ts'
import { prepare, startFixture, type Fixture } from './worker-crashes.ts'
import type { Scenario } from './scenario.ts'
import { settle, sweep } from './settle.ts'

const ROUNDS = 10
/** The short form tests every nth call. */
const SHORT_STEP = 3

/**
 * Two new containers need a sandbox while only one warm sandbox exists. The worker of the first one pauses at a call of its step until the worker of
 * the second one has finished. Returns false if the step made fewer calls.
 */
async function claimAt(fixture: Fixture, at: number): Promise<boolean> {
  const { harness, healthy, clockOffset, clock } = fixture
  const { history, manualPorts } = harness
  const { container: early, accept: acceptEarly } = await prepare(fixture, 'warm')
  const { container: late, accept: acceptLate } = await prepare(fixture, 'cold')
  const jobs = [await acceptEarly(), await acceptLate()] as const
  const barrier = pauseAt(harness, manualPorts, at, `early-${at}`)
  const [first, second] = [
    createWorker({ name: `early-${at}`, ports: barrier.ports, history, clock }),
    createWorker({ name: `late-${at}`, ports: manualPorts, history, clock }),
  ]
  const paused = first.handle(stepOf(jobs[0])).catch(() => undefined)
  const isPaused = await Promise.race([barrier.reached.then(() => true), paused.then(() => false)])
  await second.handle(stepOf(jobs[1])).catch(() => undefined)
  barrier.release()
  await paused
  clockOffset.ms += LEASE_MS + 1_000
  await settle(harness, healthy, clockOffset, jobs)
  for (const job of jobs) await harness.observe(job)
  await sweep(harness, healthy, clockOffset, [early, late])
  return isPaused
}

function stepOf({ tenant, container, execution }: Job): Message {
  const body = { v: 1, type: 'execution.step', tenant, containerId: container, executionId: execution } as const
  return { queue: 'executions', id: `claim-${execution}`, body }
}

/** Two containers compete for one warm sandbox, with a pause at every call of the step. */
export const rivalClaims: Scenario = {
  name: 'rival-claims',
  thresholds: ['D-31'],
  async run({ scale, log, failFast = false }) {
    const fixture = await startFixture()
    const step = scale < 0.05 && !failFast ? SHORT_STEP : 1
    let races = 0
    try {
      for (let round = 0; round < Math.max(1, Math.round(ROUNDS * scale)); round++)
        for (let at = 0; await claimAt(fixture, at); at += step) races += 1
      log(`rival-claims: ${races} races`)
      return { histories: [fixture.harness.history], failures: [], figures: { races } }
    } finally {
      await fixture.harness.stop()
    }
  },
}
