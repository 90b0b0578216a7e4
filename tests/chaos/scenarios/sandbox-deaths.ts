import { LEASE_MS } from '../../../services/core/lease.ts'
import { handleTaskStateChange } from '../../../services/orchestrator/reconciler/handle-task-state-change.ts'
import { mortal, Killed } from '../world/killable.ts'
import type { Stage } from '../world/scripted-kernel.ts'
import { createWorker } from '../world/worker.ts'
import { prepare, startStand, type Setting, type Stand } from './deaths.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep } from './settle.ts'

const RUNS = 20
/** What the reconciler alone may need, and what it may need when the platform tells of the death; milliseconds of the workers' clock. */
const ALONE_MS = 93_000
const TOLD_MS = 5_000

/** Where the sandbox dies, and a setting that comes by there. */
const STAGES: readonly (readonly [Stage, Setting])[] = [
  ['health', 'live'],
  ['health', 'cold'],
  ['put_file', 'upload'],
  ['restore', 'asleep'],
  ['snapshot', 'falling_asleep'],
  ['handed', 'live'],
  ['handed', 'warm'],
  ['begun', 'live'],
  ['line', 'live'],
  ['line', 'cold'],
  ['finished', 'live'],
  ['get_file', 'live'],
]
/**
 * `sandbox`: its worker lives and sees it. `alone`: the worker dies in the same moment, and nobody tells. `told`: nobody holds the job any more when the
 * platform's events come.
 */
const WAYS = ['sandbox', 'told', 'alone'] as const
type Way = (typeof WAYS)[number]

async function kill(stand: Stand, stage: Stage, setting: Setting, way: Way): Promise<{ readonly tookMs: number; readonly isHit: boolean }> {
  const { world, healthy, ahead, clock, used } = stand
  const { container, accept } = await prepare(stand, setting)
  const early = setting === 'falling_asleep' ? null : await accept()
  const name = `beside-${stage}-${way}`
  const victim = mortal(world.byHand, Number.POSITIVE_INFINITY, 'before', () => undefined)
  const worker = createWorker({ name, ports: victim.ports, history: world.history, clock })
  let hit: string | null = null
  world.fleet.onStage = async (at, sandbox, execution) => {
    const isOurs = execution === null || execution === early?.execution
    if (hit !== null || at !== stage || !isOurs) return
    hit = sandbox
    world.history.add({ type: 'killed', worker: sandbox, at: `${setting}: ${stage}` })
    if (way !== 'sandbox') victim.kill()
    await world.fleet.kill(sandbox)
  }
  // The events of a death come twice, and late.
  const tell = async (): Promise<void> => {
    if (hit === null || way !== 'told') return
    await handleTaskStateChange(healthy.placing, hit)
    await handleTaskStateChange(healthy.placing, hit)
  }
  for (let letter = world.courier.take(); letter !== undefined; letter = world.courier.take()) {
    await Promise.race([worker.handle(letter).catch(ignoreDeath), victim.death])
    if (!victim.isDead) continue
    world.courier.letters.push(letter)
    break
  }
  world.fleet.onStage = () => undefined
  const job = early ?? (await accept())
  if (way === 'told') ahead.ms += LEASE_MS + 1_000
  await tell()
  await deliverAll(world, healthy)
  const tookMs = await settle(world, healthy, ahead, [job])
  await tell()
  await world.see(job)
  // The container goes on: with a fresh sandbox, and told of what it lost.
  const next = await world.accept(container, { now: clock.now() })
  await settle(world, healthy, ahead, [next])
  await world.see(next)
  if (used.push(container) >= 12) await sweep(world, healthy, ahead, used.splice(0))
  return { tookMs, isHit: hit !== null }
}

function ignoreDeath(cause: unknown): void {
  if (!(cause instanceof Killed)) return
}

/** Sandboxes killed at every stage of their life, with and without their worker, with and without a word from the platform. */
export const sandboxDeaths: Scenario = {
  name: 'sandbox-deaths',
  bars: ['D-36'],
  async run({ scale, say }) {
    const stand = await startStand()
    const rounds = Math.max(1, Math.round(RUNS * scale))
    const complaints: string[] = []
    const slowest: Record<Way, number> = { sandbox: 0, told: 0, alone: 0 }
    let hits = 0
    try {
      for (let round = 0; round < rounds; round++)
        for (const [index, [stage, setting]] of STAGES.entries())
          for (const way of scale < 0.05 ? [stage === 'get_file' ? WAYS[0] : (WAYS[index % WAYS.length] as Way)] : WAYS) {
            const { tookMs, isHit } = await kill(stand, stage, setting, way)
            if (isHit) hits += 1
            else complaints.push(`${setting} never came to ${stage}`)
            slowest[way] = Math.max(slowest[way], tookMs)
            if (tookMs > (way === 'alone' ? ALONE_MS : TOLD_MS))
              complaints.push(`${setting}, ${stage}, ${way}: the end came ${tookMs} ms after the death`)
          }
      const { world, healthy, ahead, used } = stand
      await sweep(world, healthy, ahead, used)
      const { history, fleet } = world
      if (fleet.alive.size > 0) complaints.push(`${fleet.alive.size} sandboxes were left`)
      for (const entry of history.entries)
        if (entry.type === 'seen' && entry.status !== 'succeeded' && entry.reason !== 'sandbox_lost')
          complaints.push(`${entry.execution} ended ${entry.status} ${entry.reason}`)
      // Code that had ended keeps its outcome: only files go with the sandbox that were not collected yet.
      if (
        !history.entries.some(
          (entry) => entry.type === 'seen' && entry.status === 'succeeded' && entry.lost.some((what) => what.startsWith('file ')),
        )
      )
        complaints.push('no result names a file that went with its sandbox')
      say(`sandbox deaths: ${hits}`)
      return {
        histories: [history],
        faults: complaints,
        figures: { sandbox_deaths: hits, slowest_seen_ms: slowest.sandbox, slowest_told_ms: slowest.told, slowest_alone_ms: slowest.alone },
      }
    } finally {
      await stand.world.stop()
    }
  },
}
