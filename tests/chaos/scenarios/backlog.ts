import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChildPlan } from '../world/chaos-child.ts'
import { startCrew, untilEnded } from '../world/crew.ts'
import { seeded } from '../world/faults.ts'
import { startWorld, type World } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const PROCESSES = 3
/** Between two kills, milliseconds; with leases that run out ten times as fast, as often as every ten seconds and more. */
const KILL_EVERY_MS = 2_000
/** The short form is over before that. */
const SHORT_KILL_MS = 500
const SPEED = 10
const PATIENCE_MS = 900_000
const CHILD = join(import.meta.dirname, '..', 'world', 'chaos-child.ts')

interface Workforce {
  readonly killed: () => number
  stop(): Promise<void>
}

/** Worker processes of which one at a time is killed, by the system and without a word, and another one comes in its place. */
async function startWorkforce(world: World, processes: number, killEveryMs: number): Promise<Workforce> {
  const random = seeded(35)
  const children: ChildProcess[] = []
  let named = 0
  let killed = 0
  let isStopping = false
  const began = Date.now()
  const start = async (): Promise<void> => {
    const { region, credentials, endpoints } = world.emulators
    const name = `process-${named++}`
    const plan: ChildPlan = {
      name,
      region,
      credentials,
      endpoints,
      resources: world.resources,
      image: world.fleet.driver.image,
      speed: SPEED,
      began,
    }
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, JSON.stringify(plan)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    await once(child.stdout, 'data')
  }
  await Promise.all(Array.from({ length: processes }, start))
  const killing = (async () => {
    while (!isStopping) {
      await delay(killEveryMs)
      const [victim] = children.splice(Math.floor(random() * children.length), 1)
      if (victim === undefined) return
      if (isStopping) {
        children.push(victim)
        return
      }
      victim.kill('SIGKILL')
      killed += 1
      world.history.add({ type: 'killed', worker: String(victim.pid), at: 'SIGKILL' })
      await start()
    }
  })()
  return {
    killed: () => killed,
    async stop() {
      isStopping = true
      await killing
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

/** A thousand jobs at once, while the processes that work on them are killed one after another. */
export const backlog: Scenario = {
  name: 'backlog',
  bars: ['D-35'],
  async run({ scale, say }) {
    const world = await startWorld()
    // Place and repair live on; only those that follow code are killed.
    const crew = startCrew(world, { workers: 1, speed: SPEED, ports: world.clean, only: 'placements' })
    const count = Math.max(20, Math.round(JOBS * scale))
    let force: Workforce | null = null
    try {
      const jobs = await acceptMany(world, count, world.clean.queue, { pauseMs: 20, perContainer: 10 })
      const began = performance.now()
      force = await (scale < 0.05 ? startWorkforce(world, 2, SHORT_KILL_MS) : startWorkforce(world, PROCESSES, KILL_EVERY_MS))
      const open = await untilEnded(world, jobs, PATIENCE_MS)
      const seconds = (performance.now() - began) / 1000
      await force.stop()
      await seeAll(world, jobs)
      const rate = count / seconds
      say(`backlog: ${count} jobs in ${seconds.toFixed(0)} s, ${force.killed()} processes killed`)
      const complaints = open.map((job) => `${job.execution} is stuck`)
      if (force.killed() === 0) complaints.push('no process was killed')
      return {
        histories: [world.history],
        faults: complaints,
        figures: { processes_killed: force.killed(), jobs_per_second: Math.round(rate * 10) / 10 },
      }
    } finally {
      await force?.stop()
      await crew.stop()
      await world.stop()
    }
  },
}
