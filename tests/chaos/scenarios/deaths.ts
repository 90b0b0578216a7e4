import { LEASE_MS } from '../../../services/core/lease.ts'
import type { Container } from '../../../services/core/containers/container.ts'
import { newSandbox } from '../../../services/core/sandboxes/new-sandbox.ts'
import { startSandbox } from '../../../services/orchestrator/place/start-sandbox.ts'
import type { Job } from '../history.ts'
import { Killed, mortal } from '../world/killable.ts'
import { createWorker, type Worker } from '../world/worker.ts'
import { startWorld, type World } from '../world/world.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep, type Ahead } from './settle.ts'

/** What the worker finds that is to die: each takes another way through the steps. */
export const SETTINGS = ['cold', 'warm', 'live', 'upload', 'asleep', 'falling_asleep'] as const
export type Setting = (typeof SETTINGS)[number]

/** How often every point is played. The same calls come in several settings, so each call of the orchestrator dies 25 times and more. */
const RUNS = 4
const BETWEEN_SWEEPS = 12
/** The short form leaves points out: every nth call, another nth in every round. */
const SHORT_STEP = 37

export interface Stand {
  readonly world: World
  readonly healthy: Worker
  readonly ahead: Ahead
  /** Containers that have done their part and are to be taken away. */
  readonly used: Container[]
  readonly clock: { readonly now: () => number }
}

export async function startStand(): Promise<Stand> {
  const world = await startWorld()
  const ahead: Ahead = { ms: 0 }
  const clock = { now: () => Date.now() + ahead.ms }
  const healthy = createWorker({ name: 'healthy', ports: world.byHand, history: world.history, clock })
  return { world, healthy, ahead, clock, used: [] }
}

export interface Prepared {
  readonly container: Container
  /** The job that is to be worked on. A container that falls asleep gets it afterwards: nothing that waits may sleep. */
  readonly accept: () => Promise<Job>
}

/** A container in this setting: a new one, or one that has run code already. */
export async function prepare({ world, healthy, ahead, clock }: Stand, setting: Setting, used: Container | null = null): Promise<Prepared> {
  const container = used ?? (await world.newContainer())
  if (setting === 'warm') await warm(world, healthy, clock.now())
  if (used === null && setting !== 'cold' && setting !== 'warm') {
    const first = await world.accept(container, { now: clock.now() })
    await settle(world, healthy, ahead, [first])
    await world.see(first)
  }
  if (setting === 'upload') await world.upload(container)
  if (setting === 'asleep') {
    await askToSleep(world, container)
    await deliverAll(world, healthy)
  }
  if (setting === 'falling_asleep') await askToSleep(world, container)
  return { container, accept: () => world.accept(container, { now: clock.now() }) }
}

async function warm(world: World, { placing }: Worker, now: number): Promise<void> {
  const sandbox = newSandbox({ memoryTier: '1g', image: world.fleet.driver.image, claimedBy: null }, now)
  await world.clean.table.sandboxes.create(sandbox)
  await startSandbox(placing, sandbox)
}

async function askToSleep(world: World, { tenant, id }: Container): Promise<void> {
  const row = await world.clean.table.containers.get(tenant, id)
  const message = { v: 1, type: 'container.hibernate', tenant, containerId: id, idleSince: row?.lastActiveAt ?? 0 } as const
  await world.courier.queue.send('executions', message, { group: tenant })
}

/** One job whose worker dies at its nth call; false when it made fewer calls than that. */
async function die(stand: Stand, setting: Setting, at: number, when: 'before' | 'after', points: Set<string>): Promise<boolean> {
  const { world, healthy, ahead, clock, used } = stand
  const { container, accept } = await prepare(stand, setting)
  const early = setting === 'falling_asleep' ? null : await accept()
  const name = `victim-${setting}-${when}-${at}`
  const victim = mortal(world.byHand, at, when, (verb) => {
    points.add(`${setting}: ${verb}`)
    world.history.add({ type: 'killed', worker: name, at: verb })
  })
  const worker = createWorker({ name, ports: victim.ports, history: world.history, clock })
  const work = async (): Promise<void> => {
    for (let letter = world.courier.take(); letter !== undefined && !victim.isDead; letter = world.courier.take()) {
      await Promise.race([worker.handle(letter).catch(ignoreDeath), victim.death])
      // The queue hides a message that nobody deleted, and gives it out again.
      if (victim.isDead) return void world.courier.letters.push(letter)
    }
  }
  await work()
  const job = early ?? (await accept())
  for (await work(); !victim.isDead && !(await world.hasEnded(job)); await work()) {
    ahead.ms += LEASE_MS
    await worker.reconcile().catch(ignoreDeath)
  }
  if (victim.isDead) ahead.ms += LEASE_MS + 1_000
  await settle(world, healthy, ahead, [job])
  await world.see(job)
  if (used.push(container) >= BETWEEN_SWEEPS) await sweep(world, healthy, ahead, used.splice(0))
  return victim.isDead
}

function ignoreDeath(cause: unknown): void {
  if (!(cause instanceof Killed)) return
}

/** Kills a worker before and after every call that it makes to anything outside itself. */
export const deaths: Scenario = {
  name: 'deaths',
  bars: ['D-30'],
  async run({ scale, say }) {
    const stand = await startStand()
    const points = new Set<string>()
    const rounds = Math.max(1, Math.round(RUNS * scale))
    try {
      for (let round = 0; round < rounds; round++)
        for (const setting of SETTINGS)
          for (const when of ['before', 'after'] as const) {
            const step = scale < 0.1 ? SHORT_STEP : 1
            for (let at = when === 'before' ? 0 : Math.floor(step / 2); await die(stand, setting, at, when, points); at += step);
          }
      await sweep(stand.world, stand.healthy, stand.ahead, stand.used)
      const { history, fleet } = stand.world
      say(`deaths: ${points.size} points, ${rounds} runs of each`)
      const orphans = fleet.alive.size
      return {
        histories: [history],
        faults: orphans === 0 ? [] : [`${orphans} sandboxes were left`],
        figures: { points: points.size, orphans },
      }
    } finally {
      await stand.world.stop()
    }
  },
}
