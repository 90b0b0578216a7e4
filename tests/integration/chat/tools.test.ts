import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTools } from '../../../services/adapters/tools/create-tools.ts'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import type { ServerTool, ToolResult } from '../../../services/ports/tool.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { crashingWorker } from '../../support/crashing-worker.ts'
import { call, say, type Script } from '../../support/scripted-upstream.ts'
import { startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

const text = (said: string, isError = false): ToolResult => ({ kind: 'text', text: said, isError })
const counter = (execute: ServerTool['execute'], limits: Partial<ServerTool['limits']> = {}, type = 'count'): ServerTool => ({
  answeredBy: 'server',
  type,
  name: type,
  description: 'Counts.',
  parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 0 } }, required: ['n'] },
  limits: { timeoutMs: 5_000, maxResultChars: 200, ...limits },
  execute,
})
const count = (...numbers: readonly number[]) => call(...numbers.map((n) => ({ name: 'count', arguments: JSON.stringify({ n }) })))
const COUNT = { tools: [{ type: 'count', step: 3 }] }
const toolMessages = (): string[] =>
  (bench.upstream.requests.at(-1)?.body.messages ?? []).flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))

async function finish(request: Parameters<TurnBench['accept']>[0], deps: Partial<TurnDeps>): Promise<ResponseRecord> {
  const { id } = await bench.accept(request)
  await bench.step(id, deps)
  const row = await bench.row(id)
  checkResponseStream(await bench.events(id), row)
  return row
}
const once: Script = ({ body }) => (body.messages.at(-1)?.role === 'tool' ? say('Done.') : count(1))

describe("an operator's tool", () => {
  it('receives the caller, the call id and its options', async () => {
    bench.upstream.play(once)
    const seen: unknown[] = []
    const row = await finish(COUNT, {
      tools: [
        counter((args, { signal, ...context }) => {
          seen.push({ args, ...context, isAborted: signal.aborted })
          return Promise.resolve(text('one'))
        }),
      ],
    })
    const context = {
      tenant: bench.tenant,
      subject: null,
      responseId: row.id,
      callId: row.items[0]?.id,
      options: COUNT.tools[0],
      isAborted: false,
    }
    expect(seen).toEqual([{ args: { n: 1 }, ...context }])
    expect(row).toMatchObject({ status: 'completed', items: [{ type: 'function_call', output: 'one' }, { text: 'Done.' }] })
  })

  it('is loaded from a file', async () => {
    bench.upstream.play(({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? say('Now.') : call({ name: 'current_time', arguments: '{"time_zone":"Asia/Tokyo"}' }),
    )
    const tools = await createTools({ brave: null, folder: 'examples/tools' })
    const row = await finish({ tools: [{ type: 'current_time' }] }, { tools })
    expect(row.items[0]).toMatchObject({
      type: 'function_call',
      output: expect.stringMatching(/\d{4} at \d\d:\d\d:\d\d GMT\+9$/) as string,
    })
  })

  it.each([
    ['{"n":"many"}', 'the argument n cannot be used'],
    ['{}', 'the argument n cannot be used'],
    ['[1]', 'not a JSON object'],
    ['{"n":', 'not a JSON object'],
  ])('is not called with arguments that its schema refuses: %s', async (args, sentence) => {
    bench.upstream.play(({ body }) => (body.messages.at(-1)?.role === 'tool' ? say('Done.') : call({ name: 'count', arguments: args })))
    const row = await finish(COUNT, { tools: [counter(() => Promise.reject(new Error('called')))] })
    expect(row).toMatchObject({ status: 'completed', items: [{ output: expect.stringContaining(sentence) as string }, {}] })
  })

  it('that hangs or throws is reported to the operator and to the model', async () => {
    const events: WideEvent[] = []
    const telemetry = { emit: (event: WideEvent) => void events.push(event) }
    bench.upstream.play(once)
    await finish(COUNT, { telemetry, tools: [counter(() => new Promise(() => undefined), { timeoutMs: 20 })] })
    expect(toolMessages()).toEqual(['error: count did not answer within 20 ms'])
    await finish(COUNT, { telemetry, tools: [counter(() => Promise.reject(new Error('password is hunter2')))] })
    expect(toolMessages()).toEqual(['error: count failed. Continue without it and say so.'])
    expect(events).toContainEqual(expect.objectContaining({ event: 'tool', tool: 'count', detail: 'password is hunter2' }))
  })

  it('that was removed before its call produces an error result', async () => {
    bench.upstream.play(once)
    const { id } = await bench.accept(COUNT)
    const { promise: called, resolve } = Promise.withResolvers<void>()
    const left = bench.step(id, { tools: [counter(() => (resolve(), new Promise(() => undefined)))] })
    await called
    // Simulates a crash: the lease expires, and the next worker starts without the tool.
    bench.skew += LEASE_MS + 1
    await bench.step(id, { tools: [] })
    await left
    const items = [{ output: 'error: the tool count is no longer available' }, { text: 'Done.' }]
    expect(await bench.row(id)).toMatchObject({ status: 'completed', items })
  })
})

describe('an endless loop of tool calls', () => {
  it.each([
    [null, LIMITS.maxToolCallsPerResponse],
    [2, 2],
  ])('ends at max_tool_calls %s after %i calls with the reason', async (maxToolCalls, runs) => {
    let ran = 0
    bench.upstream.play((_, turn) => count(turn))
    const tool = counter(() => {
      ran += 1
      return Promise.resolve(text('more'))
    })
    const row = await finish({ ...COUNT, maxToolCalls }, { tools: [tool] })
    expect(row).toMatchObject({ status: 'incomplete', incompleteReason: 'max_tool_calls', toolCalls: runs })
    expect(ran).toBe(runs)
    expect(row.items.at(-1)).toMatchObject({ type: 'function_call', status: 'incomplete', output: null })
  })

  it('that all fail ends with an explanation', async () => {
    bench.upstream.play(({ body }) =>
      String(body.messages.at(-1)?.content).includes('tool calls failed') ? say('It does not work.') : count(1),
    )
    const row = await finish(COUNT, { tools: [counter(() => Promise.resolve(text('error: no', true)))] })
    expect(row).toMatchObject({ status: 'completed', toolCalls: LIMITS.maxConsecutiveFailures })
  })
})

const script: Script = ({ body }) => {
  const results = body.messages.filter((message) => message.role === 'tool').length
  return results === 0 ? count(1, 2) : results < 3 ? count(3) : say('Counted.', 3)
}

/** Runs a turn in which one worker crashes at one call. A tool must not run again once the log or the row has its result. */
async function playWithDeath(
  diesAt: number,
  when: 'before' | 'after',
): Promise<{ readonly died: boolean; readonly calls: readonly string[] }> {
  bench.upstream.play(script)
  const { id } = await bench.accept(COUNT)
  const again: string[] = []
  let runs = 0
  const tool = counter(async (args, { callId }) => {
    runs += 1
    const streamedItems = (await bench.events(id)).flatMap(
      ({ data }) => (data['item'] ?? []) as { id?: string; x_cellblock?: { output?: string } },
    )
    const stored = (await bench.row(id)).items.some((item) => item.type === 'function_call' && item.id === callId && item.output !== null)
    if (stored || streamedItems.some((item) => item.id === callId && item.x_cellblock?.output !== undefined)) again.push(callId)
    return text(`counted ${String(args['n'])}`)
  })
  const worker = crashingWorker(bench.deps, diesAt, when)
  for (let round = 0; !hasResponseEnded((await bench.row(id)).status); round += 1) {
    expect(round, 'steps until the end').toBeLessThan(10)
    if (worker.hasCrashed) bench.skew += LEASE_MS + 1
    await bench.step(id, { ...(worker.hasCrashed ? {} : worker.deps), tools: [tool] }).catch((cause: unknown) => {
      if (!worker.hasCrashed) throw cause
    })
  }
  const context = `killed ${when} call ${diesAt} (${worker.calls[diesAt] ?? 'none'})`
  const row = await bench.row(id)
  checkResponseStream(await bench.events(id), row)
  expect(row.status, context).toBe('completed')
  expect(again, context).toEqual([])
  expect(runs, context).toBeLessThanOrEqual(worker.hasCrashed ? 4 : 3)
  const answered = row.items.flatMap((item) => (item.type === 'function_call' && item.output !== null ? [item.output] : []))
  expect(answered, context).toEqual(['counted 1', 'counted 2', 'counted 3'])
  return { died: worker.hasCrashed, calls: worker.calls }
}

const READS = /\.(get|all|read|find|last|due|head)$/

it.each(['before', 'after'] as const)(
  'a worker that dies %s a call is replaced by one that does not call a tool again whose result is stored',
  async (when) => {
    const { calls } = await playWithDeath(Number.POSITIVE_INFINITY, when)
    const killedAt: string[] = []
    for (const [diesAt, name] of calls.entries()) {
      if (when === 'after' && READS.test(name)) continue
      if ((await playWithDeath(diesAt, when)).died) killedAt.push(name)
    }
    expect(killedAt).toEqual(expect.arrayContaining(['responses.acquireLease', 'responses.commit', 'events.append']))
  },
  120_000,
)
