import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { ResponseEvent } from '../../../services/model/events.ts'
import { synthesizeEvents } from '../../../services/model/responses/synthesize-events.ts'
import { publishCompletion } from '../../../services/operations/executions/end-execution.ts'
import { atCall } from '../../support/at-call.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

const twoCalls = () => bench.upstream.play((_, turn) => (turn < 2 ? runPython(`call(${turn})`) : say('Done.')))

/** A queue that records its messages and calls `onCode` when code is enqueued. */
function queueThatRuns(id: string, sent: string[], run: () => Promise<void>): TurnDeps['queue'] {
  return {
    ...bench.storage.queue,
    async send(name, message) {
      sent.push(name)
      if (name === 'executions') await run()
      if (name === 'turns') expect(message).toMatchObject({ responseId: id })
    },
  }
}
const runCode = async (id: string): Promise<void> => bench.runPending(await bench.row(id), () => ({ result: { stdout: '1\n' } }))

describe('a worker that waits for its code', () => {
  it('completes a turn in one step', async () => {
    twoCalls()
    const { id } = await bench.accept({ ...INTERPRETER, stream: false })
    const { ports, calls } = atCall(bench.storage, Number.POSITIVE_INFINITY, async () => undefined)
    await bench.step(id, { ...ports, queue: queueThatRuns(id, [], () => runCode(id)), executionWaitMs: 60_000 })
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'completed', items: [{ status: 'completed' }, { status: 'completed' }, { text: 'Done.' }] })
    checkResponseStream(synthesizeEvents(row), row)
    // The writes: one lease, two checkpoints of pending code, one end. No client streams, so no event is written.
    expect(row).toMatchObject({ tailEvents: [], nextSeq: 0 })
    expect(calls.filter((call) => call === 'responses.acquireLease')).toHaveLength(1)
    expect(calls.filter((call) => call === 'responses.commit')).toHaveLength(3)
    expect(calls.filter((call) => call.startsWith('events.'))).toEqual([])
  })

  it.each([
    { keptFiles: true, listed: 1 },
    { keptFiles: undefined, listed: 3 },
  ] as const)('lists the files of the container again unless code left them unchanged ($keptFiles)', async ({ keptFiles, listed }) => {
    twoCalls()
    const { id: containerId } = await createContainer(
      bench.storage.table,
      { tenant: bench.tenant, subject: null, name: 'named', memoryTier: '1g' },
      Date.now(),
    )
    const { id } = await bench.accept({ ...INTERPRETER, interpreter: { ...INTERPRETER.interpreter, containerId } })
    const { ports, calls } = atCall(bench.storage, Number.POSITIVE_INFINITY, async () => undefined)
    const run = async (): Promise<void> =>
      bench.runPending(await bench.row(id), () => ({ result: { ...(keptFiles && { keptFiles }), stdout: '1\n' } }))
    const now = Date.now()
    await bench.step(id, { ...ports, queue: queueThatRuns(id, [], run), clock: { now: () => now }, executionWaitMs: 60_000 })
    expect(await bench.row(id)).toMatchObject({ status: 'completed' })
    expect(calls.filter((call) => call === 'files.all')).toHaveLength(listed)
  })

  it('releases the lease when the code takes longer, and another worker continues at its end', async () => {
    twoCalls()
    const { id } = await bench.accept(INTERPRETER)
    await bench.step(id, { queue: queueThatRuns(id, [], async () => undefined), executionWaitMs: 20 })
    expect(await bench.row(id)).toMatchObject({ status: 'in_progress', lease: null, items: [{ status: 'interpreting' }] })
    expect(await bench.finish(id)).toMatchObject({ status: 'completed' })
  })

  it('detects a cancellation at the end of its code when the message about it found the row leased', async () => {
    twoCalls()
    const { id } = await bench.accept(INTERPRETER)
    const cancel = async (): Promise<void> => {
      const { pending } = await bench.row(id)
      await bench.storage.table.responses.requestCancel(bench.tenant, id, Date.now())
      await bench.step(id)
      await finishExecution(bench.deps, bench.tenant, pending?.executionId ?? '', { patch: { status: 'cancelled', reason: 'caller' } })
    }
    await bench.step(id, { queue: queueThatRuns(id, [], cancel), executionWaitMs: 60_000 })
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'cancelled', items: [{ status: 'incomplete' }] })
    expect(bench.upstream.requests).toHaveLength(1)
    checkResponseStream(await bench.events(id), row)
  })

  it('receives no message about the end of its code while it waits', async () => {
    twoCalls()
    const { id } = await bench.accept(INTERPRETER)
    const sent: string[] = []
    await bench.step(id, { queue: queueThatRuns(id, sent, async () => undefined), executionWaitMs: 20 })
    const { pending } = await bench.row(id)
    await runCode(id)
    const ended = await bench.storage.table.executions.get(bench.tenant, pending?.executionId ?? '')
    if (ended === null || ended.awaitedUntil === undefined) throw new Error('No awaitedUntil was recorded')
    sent.length = 0
    const completionDeps = { ...bench.deps, queue: queueThatRuns(id, sent, async () => undefined), telemetry: silentTelemetry }
    await publishCompletion({ ...completionDeps, clock: { now: () => (ended.awaitedUntil ?? 0) - 1 } }, ended)
    expect(sent).toEqual([])
    await publishCompletion({ ...completionDeps, clock: { now: () => ended.awaitedUntil ?? 0 } }, ended)
    expect(sent).toEqual(['turns'])
  })
})

describe('a streamed turn', () => {
  it('has recorded in its log and its row that code runs before the code starts', async () => {
    twoCalls()
    const { id } = await bench.accept(INTERPRETER)
    await bench.step(id)
    const row = await bench.row(id)
    const logged = await bench.storage.table.events.read<ResponseEvent>({ kind: 'response', tenant: bench.tenant, id }, -1, 100)
    const allEvents = [...logged, ...row.tailEvents]
    expect(allEvents.map(({ seq }) => seq)).toEqual(Array.from({ length: row.nextSeq }, (_, i) => i))
    expect(allEvents.at(-1)?.type).toBe('response.code_interpreter_call.interpreting')
  })
})
