import { withStores } from '../../support/with-stores.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

type Call = 'executions.get' | 'containers.create' | 'containers.enqueue'

const MINUTE_MS = 60_000
let bench: TurnBench
/** The call that the table currently refuses. */
let refused: Call | null = null
let deps: Partial<TurnDeps>
const events: WideEvent[] = []

beforeAll(async () => {
  bench = await startTurnBench()
  const { table } = bench.deps
  const { executions, containers } = table
  const unless = <Result>(call: Call, made: () => Promise<Result>): Promise<Result> =>
    refused === call ? Promise.reject(new Error('The table failed')) : made()
  deps = {
    table: withStores(table, {
      executions: { ...executions, get: (...of) => unless('executions.get', () => executions.get(...of)) },
      containers: {
        ...containers,
        create: (...of) => unless('containers.create', () => containers.create(...of)),
        enqueue: (...of) => unless('containers.enqueue', () => containers.enqueue(...of)),
      },
    }),
    telemetry: { emit: (event) => void events.push(event) },
  }
})
afterAll(() => bench.stop())

/** A turn whose code was enqueued: each later step reads its execution first. */
async function waitingTurn(): Promise<{ readonly id: string; readonly step: () => Promise<void> }> {
  bench.upstream.play(({ body }) => (body.messages.some(({ role }) => role === 'tool') ? say('Done.', 5) : runPython('first()')))
  const { id } = await bench.accept(INTERPRETER)
  await bench.step(id)
  await bench.runPending(await bench.row(id), () => ({ result: { stdout: 'ran\n' } }))
  return { id, step: () => bench.step(id, deps) }
}

it('a failed step releases its lease at once, and a new message continues the turn', async () => {
  refused = 'executions.get'
  const { id, step } = await waitingTurn()
  await step()
  expect(await bench.row(id)).toMatchObject({ status: 'in_progress', lease: null, stepsFailSince: expect.any(Number) })
  expect(events.at(-1)).toMatchObject({ event: 'turn_step', outcome: 'error', detail: 'Error: The table failed', retry_in_seconds: 1 })
  refused = null
  await step()
  const row = await bench.row(id)
  expect(row.status).toBe('completed')
  checkResponseStream(await bench.events(id), row)
})

it('a turn ends as failed when all of its steps have failed for five minutes', async () => {
  refused = 'executions.get'
  const { id, step } = await waitingTurn()
  await step()
  bench.skew += 4 * MINUTE_MS
  await step()
  expect(events.at(-1)).toMatchObject({ outcome: 'error', retry_in_seconds: 30 })
  expect(await bench.row(id)).toMatchObject({ status: 'in_progress', lease: null })
  bench.skew += 2 * MINUTE_MS
  await step()
  expect(events.at(-1)).toMatchObject({ outcome: 'error', retry_in_seconds: null })
  const row = await bench.row(id)
  expect(row).toMatchObject({ status: 'failed', error: { code: 'dead_letter' } })
})

it('a turn that makes progress between failures continues, however old its first failure is', async () => {
  bench.upstream.play(({ body }) => (body.messages.some(({ role }) => role === 'tool') ? say('Done.', 5) : runPython('first()')))
  const { id } = await bench.accept(INTERPRETER)
  const failAt = async (call: Call): Promise<number | null> => {
    refused = call
    await bench.step(id, deps)
    return (await bench.row(id)).stepsFailSince
  }
  const first = await failAt('containers.create')
  bench.skew += 4 * MINUTE_MS
  // The progress so far: the model replied and its code was recorded.
  const second = await failAt('containers.enqueue')
  expect(second).toBeGreaterThan(first ?? Infinity)
  bench.skew += 4 * MINUTE_MS
  expect(await failAt('executions.get')).toBe(second)
  refused = null
  await bench.step(id, deps)
  expect(await bench.row(id)).toMatchObject({ status: 'in_progress', stepsFailSince: null })
  await bench.runPending(await bench.row(id), () => ({}))
  await bench.step(id, deps)
  expect((await bench.row(id)).status).toBe('completed')
})
