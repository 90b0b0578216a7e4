import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import type { ResponseEvent } from '../../../services/model/events.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { publishCompletion } from '../../../services/operations/executions/end-execution.ts'
import { cancelResponse } from '../../../services/operations/turns/cancel-response.ts'
import { responseEvents } from '../../../services/wires/openai/responses/frames.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { crashingWorker } from '../../support/crashing-worker.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { call, runPython, say, type Script } from '../../support/scripted-upstream.ts'
import { INTERPRETER, SHELL_TOOL, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

const shell = (...commands: readonly string[]) => call({ name: 'shell', arguments: JSON.stringify({ commands }) })
/** Depends only on the conversation, so that a repeated call gets the same reply. */
const script: Script = ({ body }) => (body.messages.some(({ role }) => role === 'tool') ? say('Done.') : shell('one', 'two'))
const printed = (stdout: string) => ({ result: { stdout, exit: { code: 0, signal: null } } })
const ranCommand = (command: string) => printed(`ran ${command}\n`)
/** More output than the events that a row may hold, so that the log has it before the row. The terminal event still fits the row. */
const LONG = 600
const pendingId = async (id: string): Promise<string> => {
  const { pending } = await bench.row(id)
  if (pending === null) throw new Error('No job is pending')
  return pending.executionId
}
const outputsOf = (row: ResponseRecord) => row.items.filter((item) => item.type === 'shell_call_output')

/** Events of a response while it runs, as its readers receive them. */
function follow(row: ResponseRecord) {
  const events: ResponseEvent[] = []
  const stop = new AbortController()
  const config = { heartbeatMs: 60_000 } as Parameters<typeof responseEvents>[0]['config']
  const reading = (async () => {
    for await (const event of responseEvents({ ...bench.deps, config }, row, { after: -1, signal: stop.signal }))
      if (event !== null) events.push(event)
  })()
  return { deltas: () => events.map(({ data }) => data['delta']).filter((delta) => typeof delta === 'object'), events, reading }
}

const print = (id: string, seq: number, text: string) =>
  bench.storage.table.events.append(
    { kind: 'execution', tenant: bench.tenant, id },
    { firstSeq: seq, events: [{ seq, at: Date.now(), type: 'stdout', cell: 0, text } satisfies ExecutionEvent], fence: 1, sourceSeq: null },
  )

describe('a shell call', () => {
  it('is pending while a command runs longer than its worker waits, and each command is pending once', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept(SHELL_TOOL)
    const seen: unknown[] = []
    for (let round = 0; round < 3; round += 1) {
      await bench.step(id, { executionWaitMs: 20 })
      const row = await bench.row(id)
      seen.push([row.lease, row.pending?.jobIndex ?? null, outputsOf(row).map(({ status, results }) => [status, results.length])])
      await bench.runPending(row, ranCommand)
    }
    expect(seen).toEqual([
      [null, 0, [['in_progress', 0]]],
      [null, 1, [['in_progress', 1]]],
      [null, null, [['completed', 2]]],
    ])
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'completed', pending: null })
    checkResponseStream(await bench.events(id), row)
  })

  it('gets a message when a command ends, unless its worker still waits', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept(SHELL_TOOL)
    const sent: string[] = []
    const queue: TurnDeps['queue'] = {
      ...bench.storage.queue,
      send: async (name, message) => void sent.push(message.type === 'response.step' ? message.responseId : name),
    }
    await bench.step(id, { queue, executionWaitMs: 20 })
    const command = await pendingId(id)
    await bench.runPending(await bench.row(id), ranCommand)
    const ended = await bench.storage.table.executions.get(bench.tenant, command)
    if (ended?.awaitedUntil === undefined) throw new Error('No awaitedUntil was recorded')
    const until = ended.awaitedUntil
    sent.length = 0
    await publishCompletion({ ...bench.deps, queue, clock: { now: () => until - 1 } }, ended)
    expect(sent).not.toContain(id)
    await publishCompletion({ ...bench.deps, queue, clock: { now: () => until } }, ended)
    expect(sent).toContain(id)
  })

  it('that is longer than the budget of a step releases the row when the budget ends', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept(SHELL_TOOL)
    await bench.step(id, { executionWaitMs: 600_000, stepBudgetMs: 500 })
    expect(await bench.row(id)).toMatchObject({ status: 'in_progress', lease: null, pending: { jobIndex: 0 } })
    expect(await bench.finish(id, ranCommand)).toMatchObject({ status: 'completed' })
  })

  it('ends at once when its turn is cancelled while no sandbox has its command', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept({ ...SHELL_TOOL, background: true })
    await bench.step(id)
    const command = await pendingId(id)
    await cancelResponse(bench.deps, bench.tenant, id)
    expect(await bench.storage.table.executions.get(bench.tenant, command)).toMatchObject({ status: 'cancelled' })
    await bench.step(id)
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'cancelled', pending: null })
    expect(outputsOf(row)).toMatchObject([{ status: 'incomplete', results: [{ exitCode: 1 }] }])
    expect(bench.upstream.requests).toHaveLength(1)
    const commands = await bench.storage.table.executions.listByContainer(bench.tenant, row.containerId ?? '', {
      kind: 'command',
      after: null,
      limit: 9,
      order: 'asc',
    })
    expect(commands.rows.map((one) => one.id)).toEqual([command])
    checkResponseStream(await bench.events(id), row)
  })

  it('ends at once when its turn is cancelled while its worker waits', async () => {
    bench.upstream.play(script)
    const { id } = await bench.accept({ ...SHELL_TOOL, background: true })
    const working = bench.step(id, { executionWaitMs: 600_000 })
    const accepted = async () => {
      const { pending } = await bench.row(id)
      return pending === null ? null : bench.storage.table.executions.get(bench.tenant, pending.executionId)
    }
    await expect.poll(accepted).not.toBeNull()
    await cancelResponse(bench.deps, bench.tenant, id)
    await working
    expect(await bench.row(id)).toMatchObject({ status: 'cancelled', pending: null })
    checkResponseStream(await bench.events(id), await bench.row(id))
  })

  it('shows what a command prints while it is pending, with the final numbers', async () => {
    bench.upstream.play(script)
    const row = await bench.accept(SHELL_TOOL)
    const { id } = row
    const reader = follow(row)
    await bench.step(id)
    const first = await pendingId(id)
    await print(first, 1, 'a\n')
    await expect.poll(reader.deltas).toEqual([{ stdout: 'a\n' }])
    await print(first, 2, 'b\n')
    await expect.poll(reader.deltas).toEqual([{ stdout: 'a\n' }, { stdout: 'b\n' }])
    await finishExecution(bench.deps, bench.tenant, first, { doneSeq: 3, result: { exit: { code: 0, signal: null } } })
    await bench.step(id)
    const second = await pendingId(id)
    await print(second, 1, 'c\n')
    await expect.poll(reader.deltas).toHaveLength(3)
    await finishExecution(bench.deps, bench.tenant, second, { doneSeq: 2, result: { exit: { code: 0, signal: null } } })
    await bench.step(id)
    await reader.reading
    // Clients do not receive the time.
    const streamed = (events: readonly ResponseEvent[]) => events.map(({ seq, type, data }) => ({ seq, type, data }))
    expect(streamed(reader.events)).toEqual(streamed(await bench.events(id)))
    expect(reader.events.filter(({ type }) => type.endsWith('output_content.done')).map(({ data }) => data['command_index'])).toEqual([
      0, 1,
    ])
    checkResponseStream(reader.events, await bench.row(id))
  })
})

/** A crash after a read equals a crash before the next call. */
const READS = /\.(get|all|read|find|last|due|head)$/

/** Runs a whole turn in which one worker is killed at one call and another takes over after the lease has expired. */
async function playWithDeath(diesAt: number, when: 'before' | 'after', stays: boolean) {
  bench.upstream.play(script)
  const { id } = await bench.accept({ ...SHELL_TOOL, instructions: 'Be brief. '.repeat(LONG) })
  const worker = crashingWorker(bench.deps, diesAt, when)
  const ran: string[] = []
  let running = Promise.resolve()
  const runCommand = (): Promise<void> =>
    (running = running.then(async () =>
      bench.runPending(await bench.row(id), (command) => {
        ran.push(command)
        return printed(`ran ${command}\n`.repeat(LONG))
      }),
    ))
  const queue: TurnDeps['queue'] = {
    ...worker.deps.queue,
    async send(name, message, options) {
      await worker.deps.queue.send(name, message, options)
      if (name === 'executions') await runCommand()
    },
  }
  const dying = stays ? { ...worker.deps, queue, executionWaitMs: 1_000 } : worker.deps
  let row = await bench.row(id)
  for (let round = 0; !hasResponseEnded(row.status); round += 1) {
    expect(round, 'steps until the end').toBeLessThan(20)
    if (worker.hasCrashed) bench.skew += LEASE_MS + 1
    await bench.step(id, worker.hasCrashed ? {} : dying).catch((cause: unknown) => {
      if (!worker.hasCrashed) throw cause
    })
    await runCommand()
    row = await bench.row(id)
  }
  const context = `killed ${when} call ${diesAt} (${worker.calls[diesAt] ?? 'none'})`
  expect(row.status, context).toBe('completed')
  const events = await bench.events(id)
  checkResponseStream(events, row)
  const done = events.filter(({ type }) => type.endsWith('shell_call_output_content.done')).map(({ data }) => data['command_index'])
  expect(done, context).toEqual([0, 1])
  expect(new Set(ran).size, context).toBe(ran.length)
  // A call whose answer was cut off by the crash is asked for again, under another id.
  expect(
    outputsOf(row)
      .at(-1)
      ?.results.map(({ stdout }) => stdout),
    context,
  ).toEqual(['ran one\n'.repeat(LONG), 'ran two\n'.repeat(LONG)])
  return { hasDied: worker.hasCrashed, calls: worker.calls }
}

it.each([
  { when: 'before', stays: false },
  { when: 'after', stays: false },
  { when: 'before', stays: true },
  { when: 'after', stays: true },
] as const)(
  'a worker that is killed $when a call while a shell call runs is replaced, and each command runs once (waits: $stays)',
  async (way) => {
    const { calls } = await playWithDeath(Number.POSITIVE_INFINITY, way.when, way.stays)
    const killedAt = new Set<string>()
    for (const [diesAt, name] of calls.entries()) {
      if (way.when === 'after' && READS.test(name)) continue
      if ((await playWithDeath(diesAt, way.when, way.stays)).hasDied) killedAt.add(name)
    }
    expect([...killedAt]).toEqual(
      expect.arrayContaining(['executions.create', 'containers.addCommand', 'responses.commit', 'events.append']),
    )
  },
  300_000,
)

describe('the time budget of a step', () => {
  it('hands a turn over by a message after each action, and no lease expires', async () => {
    bench.upstream.play((_, turn) => (turn < 3 ? runPython(`call(${turn})`) : say('Done.')))
    const { id } = await bench.accept(INTERPRETER)
    let messages = 1
    const queue: TurnDeps['queue'] = {
      ...bench.storage.queue,
      async send(name, message) {
        if (name === 'turns') messages += 1
        expect(message).toMatchObject(name === 'turns' ? { type: 'response.step', responseId: id } : {})
      },
    }
    let steps = 0
    for (; messages > 0 && steps < 100; steps += 1) {
      messages -= 1
      await bench.step(id, { queue, stepBudgetMs: 0 })
      const row = await bench.row(id)
      expect(row.lease).toBeNull()
      if (row.pending === null) continue
      const execution = await bench.storage.table.executions.get(bench.tenant, row.pending.executionId)
      if (execution === null) continue
      await bench.runPending(row, () => ({ result: { stdout: '1\n' } }))
      messages += 1
    }
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'completed', fence: steps })
    expect(steps).toBeGreaterThan(8)
    expect(row.items.filter(({ type }) => type === 'code_interpreter_call')).toHaveLength(3)
    checkResponseStream(await bench.events(id), row)
  })
})
