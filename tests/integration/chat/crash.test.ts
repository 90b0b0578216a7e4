import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { synthesizeEvents } from '../../../services/model/responses/synthesize-events.ts'
import { hasResponseEnded } from '../../../services/model/responses/response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { crashingWorker } from '../../support/crashing-worker.ts'
import { runPython, say, type Script } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

/** Enough events that the first ones do not fit the row. */
const instructions = 'Be brief. '.repeat(1_600)

/** Depends only on the conversation, so that a repeated call gets the same reply. */
const script: Script = ({ body }) => {
  const results = body.messages.filter((message) => message.role === 'tool').length
  if (results === 0) return runPython('first()', 'second()')
  return results < 3 ? runPython('third()') : say('Made [a](sandbox:/mnt/data/a.txt).', 5)
}

interface Way {
  readonly when: 'before' | 'after'
  /** True if a client streams the response. */
  readonly stream: boolean
  /** True if the worker waits for its code, which ends right after it was enqueued. */
  readonly stays: boolean
}

/** Runs a whole turn in which one worker crashes at one call and another takes over after the lease has expired. */
async function playWithDeath(
  diesAt: number | string,
  { when, stream, stays }: Way,
): Promise<{ readonly died: boolean; readonly calls: readonly string[] }> {
  bench.upstream.play(script)
  const { id } = await bench.accept({ ...INTERPRETER, instructions, stream })
  const worker = crashingWorker(bench.deps, diesAt, when)
  const ran = new Map<string, string[]>()
  const runPending = async (): Promise<void> =>
    bench.runPending(await bench.row(id), (code, execution) => {
      ran.set(execution.id, [...(ran.get(execution.id) ?? []), code])
      return { files: { 'a.txt': code }, result: { stdout: `${code}\n` } }
    })
  // One execution at a time, as in one sandbox: a step that dies may have sent its message already.
  let running = Promise.resolve()
  const runCode = (): Promise<void> => (running = running.then(runPending))
  const queue: TurnDeps['queue'] = {
    ...worker.deps.queue,
    async send(name, message, options) {
      await worker.deps.queue.send(name, message, options)
      if (name === 'executions') await runCode()
    },
  }
  const dying = stays ? { ...worker.deps, queue, executionWaitMs: 1_000 } : worker.deps
  let row = await bench.row(id)
  for (let round = 0; !hasResponseEnded(row.status); round += 1) {
    expect(round, 'steps until the end').toBeLessThan(25)
    if (worker.hasCrashed) {
      bench.skew += LEASE_MS + 1
      await bench.step(id)
    } else {
      await bench.step(id, dying).catch((cause: unknown) => {
        if (!worker.hasCrashed) throw cause
      })
    }
    await runCode()
    row = await bench.row(id)
  }
  const context = `killed ${when} call ${diesAt} (${typeof diesAt === 'number' ? (worker.calls[diesAt] ?? 'none') : 'by name'})`
  expect(row.status, context).toBe('completed')
  checkResponseStream(stream ? await bench.events(id) : synthesizeEvents(row), row)
  const message = row.items.at(-1)
  expect(message?.type === 'message' ? message.text : '', context).toMatch(/^Made \[a\]\(http:\/\/localhost:8787\/d\/[\w-]+\)\.$/)
  // Each accepted execution ran once and has exactly one item.
  expect(
    [...ran.values()].every((codes) => codes.length === 1),
    context,
  ).toBe(true)
  const codeItems = row.items.flatMap((item) => (item.type === 'code_interpreter_call' && item.outcome !== null ? [item] : []))
  expect(codeItems.map((item) => item.outcome?.executionId).toSorted(), context).toEqual([...ran.keys()].toSorted())
  expect(
    codeItems.map((item) => item.code),
    context,
  ).toEqual(['first()', 'second()', 'third()'])
  expect(await bench.storage.table.containers.get(bench.tenant, row.containerId ?? ''), context).toMatchObject({ queue: [] })
  return { died: worker.hasCrashed, calls: worker.calls }
}

/** A crash after a read equals a crash before the next call. */
const READS = /\.(get|all|read|find|last|due|head)$/

describe.each<Way>([
  { when: 'before', stream: true, stays: false },
  { when: 'after', stream: true, stays: false },
  { when: 'before', stream: false, stays: true },
  { when: 'after', stream: true, stays: true },
])('a worker that crashes $when a call (waits for its code: $stays, streamed: $stream)', (way) => {
  it('is replaced by a worker that completes the turn exactly once', async () => {
    const { when } = way
    const { calls: all } = await playWithDeath(Number.POSITIVE_INFINITY, way)
    const killedAt: string[] = []
    for (const [diesAt, name] of all.entries()) {
      if (when === 'after' && READS.test(name)) continue
      const { died, calls } = await playWithDeath(diesAt, way)
      if (died) killedAt.push(calls[diesAt] ?? '')
    }
    for (const expected of [
      'responses.acquireLease',
      'responses.commit',
      ...(way.stream ? ['events.append'] : []),
      'executions.create',
      'containers.enqueue',
      'containers.create',
      'links.put',
      'queue.send',
    ]) {
      // Timers write to the log too, so the number of log calls varies.
      expect(killedAt.includes(expected) || (await playWithDeath(expected, way)).died, expected).toBe(true)
    }
  }, 300_000)
})

describe('two messages for one response', () => {
  it('produce one turn without conflicts', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept(INTERPRETER)
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([bench.step(id), bench.step(id), bench.step(id)])
      const row = await bench.row(id)
      if (hasResponseEnded(row.status)) break
      await bench.runPending(row, (code) => ({ files: { 'a.txt': code } }))
    }
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'completed' })
    expect(row.items).toHaveLength(4)
    checkResponseStream(await bench.events(id), row)
  })
})
