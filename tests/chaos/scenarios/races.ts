import pLimit from 'p-limit'
import type { Container } from '../../../services/core/containers/container.ts'
import { LEASE_MS } from '../../../services/core/lease.ts'
import { watchPorts, type Ports } from '../world/killable.ts'
import { createWorker } from '../world/worker.ts'
import type { Letter } from '../world/courier.ts'
import { startWorld, type World } from '../world/world.ts'
import { prepare, type Setting, type Stand } from './deaths.ts'
import type { Scenario } from './scenario.ts'
import { settle, sweep } from './settle.ts'

const RACES = 3_000
const RATES = [0, 0.05, 0.1, 0.2] as const
const RACED: readonly Setting[] = ['live', 'warm', 'upload', 'asleep']
/** More calls than a step makes: the barrier wanders over all of them. */
const PLACES = 24
const LANES = 4
const BETWEEN_SWEEPS = 48
const SHORT_CHUNK = 12
/** A step that is not let go by then never reaches its barrier. */
const PATIENCE_MS = 10_000

interface Barrier {
  readonly ports: Ports
  /** Resolves when the step stands at the barrier. */
  readonly reached: Promise<void>
  release(): void
}

/** Ports that hold a worker still at its nth call until it is let go. */
function hold(world: World, ports: Ports, at: number, worker: string): Barrier {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const held = watchPorts(ports, {
    async before(number, verb) {
      if (number !== at) return
      world.history.add({ type: 'held', worker, at: verb })
      reached.resolve()
      await gate.promise
      world.history.add({ type: 'released', worker, at: verb })
    },
  })
  return { ports: held, reached: reached.promise, release: () => gate.resolve() }
}

/** Where to stand still next: each setting at each place, in turn; once all were tried, only at places that its steps come to. */
class Places {
  readonly #furthest = new Map<Setting, number>()
  readonly #tried = new Map<Setting, number>()

  next(setting: Setting): number {
    const tried = this.#tried.get(setting) ?? 0
    this.#tried.set(setting, tried + 1)
    return tried < PLACES ? tried : tried % ((this.#furthest.get(setting) ?? PLACES - 1) + 1)
  }

  reached(setting: Setting, place: number): void {
    this.#furthest.set(setting, Math.max(place, this.#furthest.get(setting) ?? 0))
  }
}

interface Raced {
  readonly isHeld: boolean
  readonly container: Container
  readonly isNew: boolean
}

/**
 * A worker stands still in the middle of its step until its lease has run out and a second one works on the same row; then it goes on,
 * beside the second one or after it. Every place of the step is such a middle.
 */
async function race(world: World, number: number, place: number | Places, idle: Container[]): Promise<Raced> {
  const ahead = { ms: 0 }
  const clock = { now: () => Date.now() + ahead.ms }
  const ports = { ...world.byHand }
  const { history } = world
  const healthy = createWorker({ name: `third-${number}`, ports: { ...world.clean, queue: ports.queue }, history, clock })
  const stand: Stand = { world, healthy, ahead, clock, used: [] }
  const setting = RACED[number % RACED.length] as Setting
  // A container that ran a race has run code, as all but a fresh one shall have.
  const used = setting === 'warm' ? null : (idle.pop() ?? null)
  const { container, accept } = await prepare(stand, setting, used)
  const job = await accept()
  const at = typeof place === 'number' ? place : place.next(setting)
  const barrier = hold(world, ports, at, `slow-${number}`)
  const slow = createWorker({ name: `slow-${number}`, ports: barrier.ports, history, clock })
  const quick = createWorker({ name: `quick-${number}`, ports, history, clock })
  const message = { v: 1, type: 'execution.step', tenant: job.tenant, containerId: job.container, executionId: job.execution } as const
  const letter: Letter = { queue: 'executions', id: `race-${number}`, message }

  const first = slow.handle(letter).catch(() => undefined)
  const isHeld = await Promise.race([barrier.reached.then(() => true), first.then(() => false)])
  ahead.ms += LEASE_MS + 1_000
  const second = quick.handle(letter).catch(() => undefined)
  if (number % 2 === 0) await Promise.race([second, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())])
  barrier.release()
  await Promise.all([first, second])
  await settle(world, healthy, ahead, [job])
  await world.see(job)
  idle.push(container)
  if (isHeld && typeof place !== 'number') place.reached(setting, at)
  return { isHeld, container, isNew: used === null }
}

async function sweepAll(world: World, containers: readonly Container[]): Promise<void> {
  const ahead = { ms: 0 }
  const ports = { ...world.clean, queue: world.courier.queue }
  const worker = createWorker({ name: 'sweeper', ports, history: world.history, clock: { now: () => Date.now() + ahead.ms } })
  await sweep(world, worker, ahead, containers)
}

export const races: Scenario = {
  name: 'races',
  bars: ['D-31'],
  async run({ scale, say, hurry = false }) {
    const histories = []
    let raced = 0
    const chunk = scale < 0.05 ? SHORT_CHUNK : BETWEEN_SWEEPS
    // A mutant has to be met without luck: every setting at every place, and nothing else goes wrong.
    const rates = hurry ? [0] : scale < 0.05 ? [0.1] : RATES
    const places = new Places()
    for (const [index, rate] of rates.entries()) {
      const world = await startWorld({ seed: index + 1 })
      world.faults.rate = rate
      histories.push(world.history)
      const lane = pLimit(LANES)
      const wanted = Math.max(2 * RACED.length, Math.round((RACES * scale) / RATES.length))
      let held = 0
      try {
        // Not every step comes as far as its barrier: only those count that stood there.
        for (let from = 0; hurry ? from < RACED.length * PLACES : held < wanted; from += chunk) {
          const numbers = Array.from({ length: chunk }, (_, place) => from + place)
          const idle: Container[] = []
          const placeOf = (number: number): number | Places => (scale < 0.05 && !hurry ? (number * 7) % PLACES : places)
          const done = await Promise.all(numbers.map((number) => lane(() => race(world, number, placeOf(number), idle))))
          held += done.filter(({ isHeld }) => isHeld).length
          await sweepAll(
            world,
            done.filter(({ isNew }) => isNew).map(({ container }) => container),
          )
        }
        raced += held
      } finally {
        await world.stop()
      }
      say(`races: ${held} at ${rate * 100} % faults`)
    }
    return { histories, faults: [], figures: { races: raced } }
  },
}
