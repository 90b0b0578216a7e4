import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventBatch, EventOwner } from '../../../services/model/events.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import type { ExecutionProgressPayload } from '../../../services/model/executions/events/event-types.ts'
import { newId } from '../../../services/model/ids.ts'
import type { EventStore } from '../../../services/ports/event-store.ts'
import { fenceEventLog } from '../../../services/jobs/fence-event-log.ts'
import { LeaseLostError } from '../../../services/jobs/lease.ts'
import { T0 } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
let events: EventStore
beforeAll(async () => {
  storage = await startStorage()
  events = storage.table.events
})
afterAll(() => storage.stop())

const newExecution = (): EventOwner => ({ kind: 'execution', tenant: newId('tenant'), id: newId('execution') })
const line = (seq: number, fence: number): EventBatch<ExecutionEvent> => ({
  firstSeq: seq,
  events: [{ seq, at: T0, type: 'stdout', cell: 0, text: `${seq}\n` }],
  fence,
  sourceSeq: seq + 5,
})
const RUNNING = { payload: { type: 'status', status: 'running' } } as const
const LOST = { payload: { type: 'lost', what: 'outputs', reason: 'The sandbox was lost.' }, isWrittenOnce: true } as const
const deps = () => ({ events, clock: { now: () => T0 } })

describe('a fenced event log', () => {
  it('refuses what its paused predecessor writes next', async () => {
    const owner = newExecution()
    expect(await events.append(owner, line(1, 1))).toBe(true)
    const fenced = await fenceEventLog(deps(), owner, { fence: 2, ...RUNNING })
    expect(fenced).toMatchObject({ firstSeq: 2, fence: 2, sourceSeq: 6, events: [{ seq: 2, type: 'status' }] })
    expect(await events.append(owner, line(2, 1))).toBe(false)
    expect((await events.read(owner, 0, 10)).map((event) => event.type)).toEqual(['stdout', 'status'])
  })

  it('starts at 1 for an execution, whose event 0 is in the row, and at 0 for a response', async () => {
    const response = { kind: 'response', tenant: newId('tenant'), id: newId('response') } as const
    expect(await fenceEventLog(deps(), newExecution(), { fence: 2, ...RUNNING })).toMatchObject({ firstSeq: 1 })
    expect(await fenceEventLog(deps(), response, { fence: 2, payload: { type: 'x', data: {} } })).toMatchObject({ firstSeq: 0 })
  })

  it('keeps the numbers of the events that the row holds', async () => {
    const owner = newExecution()
    await events.append(owner, line(1, 1))
    const tail = [1, 2, 3].map((seq) => ({ seq, at: T0, type: 'stdout', cell: 0, text: `${seq}` }) as const)
    const fenced = await fenceEventLog<ExecutionProgressPayload>(deps(), owner, { fence: 2, ...RUNNING, tail })
    expect(fenced.events.map(({ seq, type }) => [seq, type])).toEqual([
      [2, 'stdout'],
      [3, 'stdout'],
      [4, 'status'],
    ])
  })

  it('rejects a step that was paused between its lease and its first event', async () => {
    const owner = newExecution()
    await fenceEventLog(deps(), owner, { fence: 3, ...RUNNING })
    await expect(fenceEventLog(deps(), owner, { fence: 2, ...RUNNING })).rejects.toThrow(LeaseLostError)
  })

  it('names a loss once, also when the step that ends the job is repeated', async () => {
    const owner = newExecution()
    const first = await fenceEventLog(deps(), owner, { fence: 2, ...LOST })
    expect(await fenceEventLog(deps(), owner, { fence: 3, ...LOST })).toMatchObject(first)
  })
})
