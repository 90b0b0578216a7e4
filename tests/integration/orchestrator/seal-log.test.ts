import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventBatch, EventOwner, ExecutionEvent } from '../../../services/core/events.ts'
import { systemClock } from '../../../services/core/ports/clock.ts'
import { LeaseLostError } from '../../../services/orchestrator/run/lease-heartbeat.ts'
import { fenceEventLog } from '../../../services/orchestrator/run/fence-event-log.ts'
import { executionRow, T0 } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

const line = (seq: number, fence: number): EventBatch<ExecutionEvent> => ({
  firstSeq: seq,
  events: [{ seq, at: T0, type: 'stdout', cell: 0, text: `${seq}\n` }],
  fence,
  sourceSeq: seq + 5,
})

describe('an event log whose writer stands still', () => {
  it('takes nothing of it any more once its successor has begun', async () => {
    const row = executionRow({ fence: 2 })
    const owner: EventOwner = { kind: 'execution', tenant: row.tenant, id: row.id }
    const { events } = storage.table
    expect(await events.append(owner, line(1, 1))).toBe(true)
    const deps = { table: storage.table, clock: systemClock }
    const sealed = await fenceEventLog(deps, row, { type: 'status', status: 'running' })
    expect(sealed).toMatchObject({ firstSeq: 2, fence: 2, sourceSeq: 6, events: [{ seq: 2, type: 'status' }] })
    expect(await events.append(owner, line(2, 1))).toBe(false)
    expect((await events.read(owner, 0, 10)).map((event) => event.type)).toEqual(['stdout', 'status'])
  })

  it('is not continued by a step that stood still between taking the row and its first event', async () => {
    const row = executionRow({ fence: 2 })
    const deps = { table: storage.table, clock: systemClock }
    const fact = { type: 'status', status: 'running' } as const
    await fenceEventLog(deps, { ...row, fence: 3 }, fact)
    await expect(fenceEventLog(deps, row, fact)).rejects.toThrow(LeaseLostError)
  })

  it('is told once what is lost, also when the step that ends it has to be repeated', async () => {
    const row = executionRow({ fence: 2 })
    const deps = { table: storage.table, clock: systemClock }
    const fact = { type: 'lost', what: 'outputs', reason: 'The sandbox was lost.' } as const
    const first = await fenceEventLog(deps, row, fact)
    expect(await fenceEventLog(deps, { ...row, fence: 3 }, fact)).toEqual(first)
  })
})
