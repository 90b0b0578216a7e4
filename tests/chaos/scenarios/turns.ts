import { setTimeout as delay } from 'node:timers/promises'
import { LEASE_MS } from '../../../services/core/lease.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../services/core/responses/response.ts'
import { atCall } from '../../support/at-call.ts'
import { runPython, say as answerWith, type Script } from '../../support/scripted-upstream.ts'
import { streamFaults } from '../../support/stream-faults.ts'
import { INTERPRETER, startTurnBench, type RunCode, type TurnBench } from '../../support/turn-bench.ts'
import type { Scenario } from './scenario.ts'

const RUNS = 6
/** The short form leaves places out: every nth call. */
const SHORT_STEP = 2
const MAX_STEPS = 20
/** A step that stands at a place that it never comes to has ended. */
const ENDED = Symbol('ended')

/** Looks at the conversation alone, so that a repeated call gets the same answer. */
const script: Script = ({ body }) =>
  body.messages.some((message) => message.role === 'tool')
    ? answerWith('It is a fine day for [a](sandbox:/mnt/data/a.txt).', 5)
    : runPython('first()')

/** Which step stands still: the turn's first, the one after its code, or one that stays with its code, which ends as soon as it was handed over. */
const STEPS = ['first', 'second', 'staying'] as const
const STAY_MS = 1_000
/** Longer than events wait for each other before they are written. */
const SLOWLY_MS = 20

interface Turned {
  /** False when the step made fewer calls than that. */
  readonly isHeld: boolean
  readonly at: string
  readonly faults: readonly string[]
}

/** Goes on with a response as its other workers do, to its end. */
async function finish(bench: TurnBench, id: string, runCode: () => Promise<void>): Promise<ResponseRecord> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    await bench.step(id)
    const row = await bench.row(id)
    if (hasResponseEnded(row.status)) return row
    await runCode()
  }
  throw new Error(`${id} does not end`)
}

/**
 * A worker stands still at one call of its step until its lease has run out and another one has taken the turn over; it goes on beside that one, or
 * when the turn has ended.
 */
async function stand(bench: TurnBench, place: number, step: (typeof STEPS)[number], goesOn: 'beside' | 'after'): Promise<Turned> {
  const { id } = await bench.accept(INTERPRETER)
  const ran = new Map<string, number>()
  const run: RunCode = (_code, { id: execution }) => {
    ran.set(execution, (ran.get(execution) ?? 0) + 1)
    return { files: { 'a.txt': 'a' }, result: { stdout: 'ran\n' } }
  }
  // One after the other, as in one sandbox.
  let running = Promise.resolve()
  const runCode = (): Promise<void> => (running = running.then(async () => bench.runPending(await bench.row(id), run)))
  if (step === 'second') {
    await bench.step(id)
    await runCode()
  }
  let isHeardSlowly = true
  const held = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  // What its timers do waits as well, as in a process that is frozen.
  const freeze = async (): Promise<void> => {
    held.resolve()
    await gate.promise
  }
  const { ports, calls } = atCall(bench.deps, place, freeze, { andAfter: true })
  // The one that is to stand still hears its model slowly, so that it writes to the log on the way; the others have all to say in one breath.
  bench.upstream.play((request, turn) => ({
    ...script(request, turn),
    ...(isHeardSlowly ? { gate: delay(SLOWLY_MS) } : {}),
  }))
  const queue: typeof ports.queue = {
    ...ports.queue,
    async send(name, message, options) {
      await ports.queue.send(name, message, options)
      if (name === 'executions') await runCode()
    },
  }
  const slow = bench.step(id, step === 'staying' ? { ...ports, queue, stayMs: STAY_MS } : ports).then(
    () => ENDED,
    () => ENDED,
  )
  const isHeld = (await Promise.race([held.promise, slow])) !== ENDED
  isHeardSlowly = false
  bench.skew += LEASE_MS + 1
  if (goesOn === 'beside') gate.resolve()
  await finish(bench, id, runCode)
  gate.resolve()
  await slow
  const row = await bench.row(id)
  const faults = [...streamFaults(await bench.events(id), row)]
  if (row.status !== 'completed') faults.push(`it ended ${row.status}`)
  const told = row.items.flatMap((item) =>
    item.type === 'code_interpreter_call' && item.outcome !== null ? [item.outcome.executionId] : [],
  )
  if (told.toSorted().join() !== [...ran.keys()].toSorted().join())
    faults.push(`it tells of ${told.join()}, and ${[...ran.keys()].join()} ran`)
  if ([...ran.values()].some((times) => times !== 1)) faults.push('code ran twice')
  return { isHeld, at: calls[place] ?? '', faults }
}

/** Chat workers that stand still at every call while another one goes on with the turn. */
export const turns: Scenario = {
  name: 'turns',
  bars: ['D-31'],
  async run({ scale, say, hurry = false }) {
    const bench = await startTurnBench()
    bench.upstream.play(script)
    const complaints: string[] = []
    const places = new Set<string>()
    let races = 0
    const every = scale < 0.05 && !hurry ? SHORT_STEP : 1
    try {
      for (let round = 0; round < Math.max(1, Math.round(RUNS * scale)); round++)
        for (const [index, step] of STEPS.entries())
          for (const goesOn of ['beside', 'after'] as const)
            for (let place = every === 1 ? 0 : (index % 2) + (goesOn === 'after' ? every >> 1 : 0), isHeld = true; isHeld; place += every) {
              const turned = await stand(bench, place, step, goesOn)
              isHeld = turned.isHeld
              if (isHeld) races += 1
              places.add(`${step}: ${turned.at}`)
              complaints.push(...turned.faults.map((fault) => `${step} step, ${goesOn} ${turned.at} (${place}): ${fault}`))
            }
      if (races === 0) complaints.push('no step was held')
      say(`turns: ${races} races`)
      return { histories: [], faults: complaints, figures: { races, places: places.size } }
    } finally {
      await bench.stop()
    }
  },
}
