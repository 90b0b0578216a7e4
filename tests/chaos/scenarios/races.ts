import pLimit from 'p-limit'
import type { Container } from '../../../services/model/containers/container.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { pauseAt } from '../harness/barrier.ts'
import { createWorker } from '../harness/worker.ts'
import type { Message } from '../harness/manual-queue.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import { prepare, type Setting, type Fixture } from './worker-crashes.ts'
import type { Scenario } from './scenario.ts'
import { settle, sweep } from './settle.ts'

const RACES = 3_000
const RATES = [0, 0.05, 0.1, 0.2] as const
const RACED: readonly Setting[] = ['live', 'warm', 'upload', 'hibernated']
/** More than the number of calls of a step, so that the barrier reaches every call. */
const MAX_CALLS = 24
const LANES = 4
const BETWEEN_SWEEPS = 48
const SHORT_CHUNK = 12
/** The time after which a second step that waits for the first one is no longer awaited. */
const TIMEOUT_MS = 10_000

/** Chooses the next barrier: each setting at each call in turn; after all were tried, only calls that the steps reach. */
class BarrierPositions {
  readonly #furthest = new Map<Setting, number>()
  readonly #tried = new Map<Setting, number>()

  next(setting: Setting): number {
    const tried = this.#tried.get(setting) ?? 0
    this.#tried.set(setting, tried + 1)
    return tried < MAX_CALLS ? tried : tried % ((this.#furthest.get(setting) ?? MAX_CALLS - 1) + 1)
  }

  reached(setting: Setting, place: number): void {
    this.#furthest.set(setting, Math.max(place, this.#furthest.get(setting) ?? 0))
  }
}

interface Raced {
  readonly isPaused: boolean
  readonly container: Container
  readonly isNew: boolean
}

/**
 * Pauses a worker within its step until its lease has expired and a second worker has the same row. Then it resumes, concurrently with the
 * second worker or after it. Every call of the step is a barrier in turn.
 */
async function race(harness: Harness, number: number, place: number | BarrierPositions, idle: Container[]): Promise<Raced> {
  const clockOffset = { ms: 0 }
  const clock = { now: () => Date.now() + clockOffset.ms }
  const ports = { ...harness.manualPorts }
  const { history } = harness
  const healthy = createWorker({ name: `healthy-${number}`, ports: { ...harness.reliablePorts, queue: ports.queue }, history, clock })
  const fixture: Fixture = { harness, healthy, clockOffset, clock, finished: [] }
  const setting = RACED[number % RACED.length] as Setting
  // Settings other than `warm` need a container that has run code before; one from an earlier race qualifies.
  const finished = setting === 'warm' ? null : (idle.pop() ?? null)
  const { container, accept } = await prepare(fixture, setting, finished)
  const job = await accept()
  const at = typeof place === 'number' ? place : place.next(setting)
  const barrier = pauseAt(harness, ports, at, `slow-${number}`)
  const slow = createWorker({ name: `slow-${number}`, ports: barrier.ports, history, clock })
  const quick = createWorker({ name: `quick-${number}`, ports, history, clock })
  const body = { v: 1, type: 'execution.step', tenant: job.tenant, containerId: job.container, executionId: job.execution } as const
  const message: Message = { queue: 'executions', id: `race-${number}`, body }

  const first = slow.handle(message).catch(() => undefined)
  const isPaused = await Promise.race([barrier.reached.then(() => true), first.then(() => false)])
  clockOffset.ms += LEASE_MS + 1_000
  const second = quick.handle(message).catch(() => undefined)
  if (number % 2 === 0) await Promise.race([second, new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS).unref())])
  barrier.release()
  await Promise.all([first, second])
  await settle(harness, healthy, clockOffset, [job])
  await harness.observe(job)
  idle.push(container)
  if (isPaused && typeof place !== 'number') place.reached(setting, at)
  return { isPaused, container, isNew: finished === null }
}

async function sweepAll(harness: Harness, containers: readonly Container[]): Promise<void> {
  const clockOffset = { ms: 0 }
  const ports = { ...harness.reliablePorts, queue: harness.manualQueue.queue }
  const worker = createWorker({ name: 'sweeper', ports, history: harness.history, clock: { now: () => Date.now() + clockOffset.ms } })
  await sweep(harness, worker, clockOffset, containers)
}

export const races: Scenario = {
  name: 'races',
  thresholds: ['D-31'],
  async run({ scale, log, failFast = false }) {
    const histories = []
    let raced = 0
    const chunk = scale < 0.05 ? SHORT_CHUNK : BETWEEN_SWEEPS
    // A mutant must fail deterministically: every setting at every call, without injected faults.
    const rates = failFast ? [0] : scale < 0.05 ? [0.1] : RATES
    const places = new BarrierPositions()
    for (const [index, rate] of rates.entries()) {
      const harness = await startHarness({ seed: index + 1 })
      harness.faults.rate = rate
      histories.push(harness.history)
      const lane = pLimit(LANES)
      const wanted = Math.max(2 * RACED.length, Math.round((RACES * scale) / RATES.length))
      let held = 0
      try {
        // Some steps end before their barrier; only steps that reached it count.
        for (let from = 0; failFast ? from < RACED.length * MAX_CALLS : held < wanted; from += chunk) {
          const numbers = Array.from({ length: chunk }, (_, place) => from + place)
          const idle: Container[] = []
          const placeOf = (number: number): number | BarrierPositions => (scale < 0.05 && !failFast ? (number * 7) % MAX_CALLS : places)
          const done = await Promise.all(numbers.map((number) => lane(() => race(harness, number, placeOf(number), idle))))
          held += done.filter(({ isPaused }) => isPaused).length
          await sweepAll(
            harness,
            done.filter(({ isNew }) => isNew).map(({ container }) => container),
          )
        }
        raced += held
      } finally {
        await harness.stop()
      }
      log(`races: ${held} at ${rate * 100} % faults`)
    }
    return { histories, failures: [], figures: { races: raced } }
  },
}
