import { setTimeout as delay } from 'node:timers/promises'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { atCall } from '../../support/at-call.ts'
import { call, runPython, say as answerWith, type Script, type ScriptedAnswer } from '../../support/scripted-upstream.ts'
import { streamFaults } from '../../support/stream-faults.ts'
import { INTERPRETER, SHELL_TOOL, startTurnBench, type RunCode, type TurnBench } from '../../support/turn-bench.ts'
import type { Scenario } from './scenario.ts'

const RUNS = 6
/** The short form tests every nth call. */
const SHORT_STEP = 2
const MAX_STEPS = 20
/** The result of a step that ended before its barrier. */
const ENDED = Symbol('ended')

/** Depends only on the conversation, so that a repeated call gets the same reply. */
const scriptOf =
  (firstCall: ScriptedAnswer): Script =>
  ({ body }) =>
    body.messages.some((message) => message.role === 'tool')
      ? answerWith('It is a fine day for [a](sandbox:/mnt/data/a.txt).', 5)
      : firstCall
const CODE_SCRIPT = scriptOf(runPython('first()'))
const SHELL_SCRIPT = scriptOf(call({ name: 'shell', arguments: JSON.stringify({ commands: ['first', 'second'] }) }))

/** The paused step: the turn's first one, the one after its code, one that waits for its code, or one that waits for the commands of a shell call. */
const STEPS = ['first', 'second', 'waiting', 'shell'] as const
/** When the paused worker resumes: beside the other worker, after the turn has ended, or after another worker has ended the cancelled turn. */
const RESUMPTIONS = ['concurrently', 'after', 'after a cancel'] as const
type Resumption = (typeof RESUMPTIONS)[number]
const STAY_MS = 1_000
/** More than the events that a row in progress may hold, so that the log has them and the row has none. */
const OUTPUT = 'ran\n'.repeat(2_000)
/** The same for two commands, whose terminal event still has to fit the row. */
const COMMAND_OUTPUT = 'ran\n'.repeat(1_000)
/** Longer than the time for which events are buffered before a write. */
const SLOW_MODEL_MS = 20

interface RaceOutcome {
  /** False if the step made fewer calls. */
  readonly isPaused: boolean
  readonly at: string
  readonly faults: readonly string[]
}

/** Runs the response's remaining steps to its end, as other workers do. */
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
 * Pauses a worker at one call of its step until its lease has expired and another worker has taken over the turn. It resumes concurrently with that
 * worker, or after the turn has ended.
 */
async function raceAt(bench: TurnBench, place: number, step: (typeof STEPS)[number], resumes: Resumption): Promise<RaceOutcome> {
  const [tool, script] = step === 'shell' ? [SHELL_TOOL, SHELL_SCRIPT] : [INTERPRETER, CODE_SCRIPT]
  bench.upstream.play(script)
  const { id } = await bench.accept({ ...tool, include: ['code_interpreter_call.outputs'] })
  const ran = new Map<string, number>()
  const run: RunCode = (_code, { id: execution }) => {
    ran.set(execution, (ran.get(execution) ?? 0) + 1)
    return { files: { 'a.txt': 'a' }, result: { stdout: step === 'shell' ? COMMAND_OUTPUT : OUTPUT } }
  }
  // One execution at a time, as in one sandbox.
  let running = Promise.resolve()
  const runCode = (): Promise<void> => (running = running.then(async () => bench.runPending(await bench.row(id), run)))
  if (step === 'second') {
    await bench.step(id)
    await runCode()
  }
  let isModelSlow = true
  const held = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  // Its timers' calls wait as well, as in a frozen process.
  const freeze = async (): Promise<void> => {
    held.resolve()
    await gate.promise
  }
  const { ports, calls } = atCall(bench.deps, place, freeze, { andAfter: true })
  // The paused worker gets a slow model, so that it writes to the log meanwhile; for the others the model replies at once.
  bench.upstream.play((request, turn) => ({
    ...script(request, turn),
    ...(isModelSlow ? { gate: delay(SLOW_MODEL_MS) } : {}),
  }))
  const queue: typeof ports.queue = {
    ...ports.queue,
    async send(name, message, options) {
      await ports.queue.send(name, message, options)
      if (name === 'executions') await runCode()
    },
  }
  const slow = bench.step(id, step === 'waiting' || step === 'shell' ? { ...ports, queue, executionWaitMs: STAY_MS } : ports).then(
    () => ENDED,
    () => ENDED,
  )
  const isPaused = (await Promise.race([held.promise, slow])) !== ENDED
  isModelSlow = false
  bench.skew += LEASE_MS + 1
  if (resumes === 'concurrently') gate.resolve()
  const hasEndedBefore = hasResponseEnded((await bench.row(id)).status)
  const isCancelled = resumes === 'after a cancel' && !hasEndedBefore
  if (isCancelled) await bench.deps.table.responses.requestCancel(bench.tenant, id, Date.now() + bench.skew)
  await finish(bench, id, runCode)
  gate.resolve()
  await slow
  const row = await bench.row(id)
  const faults = [...streamFaults(await bench.events(id), row)]
  if (row.status !== (isCancelled ? 'cancelled' : 'completed')) faults.push(`the response ended ${row.status}`)
  const listed = row.items.flatMap((item) =>
    item.type === 'code_interpreter_call' && item.outcome !== null ? [item.outcome.executionId] : [],
  )
  const results = row.items.flatMap((item) => (item.type === 'shell_call_output' ? item.results : []))
  if (step === 'shell') {
    if (results.length > ran.size || (!isCancelled && results.length !== ran.size))
      faults.push(`the response has results of ${results.length} commands, and ${ran.size} ran`)
    listed.push(...ran.keys())
  }
  // A cancel may come while the code runs; its call then ends without the result.
  const mayMiss = isCancelled ? [...ran.keys()].filter((execution) => !listed.includes(execution)) : []
  if ([...listed, ...mayMiss].toSorted().join() !== [...ran.keys()].toSorted().join())
    faults.push(`the response lists executions ${listed.join()}, and ${[...ran.keys()].join()} ran`)
  if ([...ran.values()].some((times) => times !== 1)) faults.push('code ran twice')
  return { isPaused, at: calls[place] ?? '', faults }
}

/** Pauses a chat worker at every call while another one continues the turn. */
export const turns: Scenario = {
  name: 'turns',
  thresholds: ['D-31'],
  async run({ scale, log, failFast = false }) {
    const bench = await startTurnBench()
    const failures: string[] = []
    const places = new Set<string>()
    let races = 0
    const every = scale < 0.05 && !failFast ? SHORT_STEP : 1
    try {
      for (let round = 0; round < Math.max(1, Math.round(RUNS * scale)); round++)
        for (const [index, step] of STEPS.entries())
          for (const resumes of RESUMPTIONS)
            for (
              let place = every === 1 ? 0 : (index % 2) + (resumes === 'concurrently' ? 0 : every >> 1), isPaused = true;
              isPaused;
              place += every
            ) {
              const turned = await raceAt(bench, place, step, resumes)
              isPaused = turned.isPaused
              if (isPaused) races += 1
              places.add(`${step}: ${turned.at}`)
              failures.push(...turned.faults.map((fault) => `${step} step, ${resumes} ${turned.at} (${place}): ${fault}`))
            }
      if (races === 0) failures.push('no step was paused')
      log(`turns: ${races} races`)
      return { histories: [], failures, figures: { races, places: places.size } }
    } finally {
      await bench.stop()
    }
  },
}
