import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../services/core/lease.ts'
import { hasResponseEnded } from '../../../services/core/response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { dyingWorker } from '../../support/dying-worker.ts'
import { runPython, say, type Script } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

/** Looks at the conversation alone, so that a repeated call gets the same answer. */
const script: Script = ({ body }) => {
  const results = body.messages.filter((message) => message.role === 'tool').length
  if (results === 0) return runPython('first()', 'second()')
  return results < 3 ? runPython('third()') : say('Made [a](sandbox:/mnt/data/a.txt).', 5)
}

/** Plays a whole turn in which one worker dies at one call, and another one takes over when the lease has run out. */
async function playWithDeath(
  diesAt: number,
  when: 'before' | 'after',
): Promise<{ readonly died: boolean; readonly calls: readonly string[] }> {
  bench.upstream.play(script)
  const { id } = await bench.accept(INTERPRETER)
  const worker = dyingWorker(bench.deps, diesAt, when)
  const ran = new Map<string, string[]>()
  let row = await bench.row(id)
  for (let round = 0; !hasResponseEnded(row.status); round += 1) {
    expect(round, 'steps until the end').toBeLessThan(25)
    if (worker.isDead) {
      bench.skew += LEASE_MS + 1
      await bench.step(id)
    } else {
      await bench.step(id, worker.deps).catch((cause: unknown) => {
        if (!worker.isDead) throw cause
      })
    }
    row = await bench.row(id)
    await bench.runPending(row, (code, execution) => {
      ran.set(execution.id, [...(ran.get(execution.id) ?? []), code])
      return { files: { 'a.txt': code }, result: { stdout: `${code}\n` } }
    })
    row = await bench.row(id)
  }
  const context = `killed ${when} call ${diesAt} (${worker.calls[diesAt] ?? 'none'})`
  expect(row.status, context).toBe('completed')
  checkResponseStream(await bench.events(id), row)
  const message = row.items.at(-1)
  expect(message?.type === 'message' ? message.text : '', context).toMatch(/^Made \[a\]\(http:\/\/localhost:8787\/d\/[\w-]+\)\.$/)
  // Whatever was accepted ran once, and is told by exactly one item.
  expect(
    [...ran.values()].every((codes) => codes.length === 1),
    context,
  ).toBe(true)
  const told = row.items.flatMap((item) => (item.type === 'code_interpreter_call' && item.outcome !== null ? [item] : []))
  expect(told.map((item) => item.outcome?.executionId).toSorted(), context).toEqual([...ran.keys()].toSorted())
  expect(
    told.map((item) => item.code),
    context,
  ).toEqual(['first()', 'second()', 'third()'])
  expect(await bench.storage.table.containers.get(bench.tenant, row.containerId ?? ''), context).toMatchObject({ queue: [] })
  return { died: worker.isDead, calls: worker.calls }
}

/** Dying after a read is the same as dying before the next call. */
const READS = /\.(get|all|read|find|last|due|head)$/

describe.each(['before', 'after'] as const)('a worker that dies %s a call', (when) => {
  it('is followed by one that brings the turn to its one end', async () => {
    const { calls: all } = await playWithDeath(Number.POSITIVE_INFINITY, when)
    const killedAt: string[] = []
    for (const [diesAt, name] of all.entries()) {
      if (when === 'after' && READS.test(name)) continue
      const { died, calls } = await playWithDeath(diesAt, when)
      if (died) killedAt.push(calls[diesAt] ?? '')
    }
    for (const expected of [
      'responses.take',
      'responses.commit',
      'events.append',
      'executions.create',
      'containers.enqueue',
      'containers.create',
      'links.put',
      'queue.send',
    ]) {
      expect(killedAt).toContain(expected)
    }
  }, 300_000)
})

describe('two messages for one response', () => {
  it('do not disturb one another', async () => {
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
