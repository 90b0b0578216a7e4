import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Execution } from '../../../services/model/executions/execution.ts'
import type { ResponseRecord } from '../../../services/model/responses/response.ts'
import { failAsDeadLetter } from '../../../services/jobs/dead-letter.ts'
import type { Job } from '../../../services/jobs/job.ts'
import { acquireLease, commitLease, LEASE_MS, LeaseLostError, releaseLease } from '../../../services/jobs/lease.ts'
import { EventLogConflictError } from '../../../services/jobs/event-log-writer.ts'
import { recover } from '../../../services/jobs/recover.ts'
import { rescheduleAfterFailure } from '../../../services/jobs/reschedule.ts'
import { responseJob } from '../../../services/operations/turns/response-job.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow, responseRequest, responseRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

/** A worker with a separate clock, and a job whose messages are counted. */
function startWorker() {
  const time = { now: 1_000_000 }
  const worker = { clock: { now: () => time.now }, workerId: 'retries-test' }
  const delays: number[] = []
  const ended: string[] = []
  const job: Job<Execution> = {
    rows: storage.table.executions,
    enqueue: async (_, delaySeconds) => void delays.push(delaySeconds),
    endAsDeadLetter: async (row) => {
      ended.push(row.id)
      await storage.table.executions.commit(row, { status: 'failed', reason: 'dead_letter' })
    },
  }
  return { time, worker, job, delays, ended }
}

async function newJob({ worker, job }: ReturnType<typeof startWorker>, row: Partial<Execution> = {}): Promise<Execution> {
  const execution = executionRow(row)
  await storage.table.executions.create(execution)
  const acquired = await acquireLease(worker, job.rows, execution)
  if (acquired.kind !== 'acquired') throw new Error(`The row is ${acquired.kind}`)
  return acquired.row
}

describe('a lease', () => {
  it('belongs to one step until it is released or runs out, and each holder gets a higher fencing token', async () => {
    const stand = startWorker()
    const { worker, job, time } = stand
    const first = await newJob(stand)
    expect((await acquireLease(worker, job.rows, first)).kind).toBe('busy')
    expect(await releaseLease({ rows: job.rows, clock: worker.clock }, first)).toMatchObject({ lease: null, dueAt: time.now + 10_000 })
    const second = await acquireLease(worker, job.rows, first)
    expect(second).toMatchObject({ kind: 'acquired', row: { fence: first.fence + 1 } })
    time.now += LEASE_MS
    expect(await acquireLease(worker, job.rows, first)).toMatchObject({ kind: 'acquired', row: { fence: first.fence + 2 } })
    expect(await releaseLease({ rows: job.rows, clock: worker.clock }, first)).toBeNull()
    await expect(commitLease(job.rows, first, { patch: { status: 'starting' } })).rejects.toThrow(LeaseLostError)
  })
})

describe('a step that failed', () => {
  it('releases its lease and sends a message, later each time', async () => {
    const stand = startWorker()
    const { worker, job, delays, time } = stand
    let row = await newJob(stand)
    for (let step = 0; step < 8; step++) {
      const { retryInSeconds } = (await rescheduleAfterFailure(worker, job, { row })) ?? { retryInSeconds: null }
      time.now += (retryInSeconds ?? 0) * 1000
      const next = await acquireLease(worker, job.rows, row)
      if (next.kind !== 'acquired') throw new Error(`The row is ${next.kind}`)
      row = next.row
    }
    expect(delays).toEqual([1, 1, 2, 4, 8, 16, 30, 30])
  })

  it('ends as a dead letter when every step failed for five minutes', async () => {
    const stand = startWorker()
    const { worker, job, time, ended, delays } = stand
    const row = await newJob(stand, { stepsFailSince: time.now - 300_001 })
    expect(await rescheduleAfterFailure(worker, job, { row })).toEqual({ retryInSeconds: null })
    expect(ended).toEqual([row.id])
    expect(delays).toEqual([])
  })

  it('starts the back-off again when the job has progressed', async () => {
    const stand = startWorker()
    const { worker, job, time } = stand
    const row = await newJob(stand, { stepsFailSince: time.now - 300_001 })
    expect(await rescheduleAfterFailure(worker, job, { row, hasProgressed: true })).toEqual({ retryInSeconds: 1 })
  })

  it('writes nothing when another worker holds the row', async () => {
    const stand = startWorker()
    const { worker, job, time, delays } = stand
    const row = await newJob(stand)
    time.now += LEASE_MS
    await acquireLease(worker, job.rows, row)
    expect(await rescheduleAfterFailure(worker, job, { row })).toBeNull()
    expect(delays).toEqual([])
  })
})

describe('a dead letter', () => {
  it('leaves a job alone that another worker holds or that has ended', async () => {
    const stand = startWorker()
    const { worker, job, ended } = stand
    const row = await newJob(stand)
    expect(await failAsDeadLetter(worker, job, row)).toBe('busy')
    await storage.table.executions.commit(row, { status: 'cancelled', reason: 'caller' })
    expect(await failAsDeadLetter(worker, job, row)).toBe('ended')
    expect(ended).toEqual([])
  })

  it('fails a response, and fences its event log against a paused worker', async () => {
    const { worker } = startWorker()
    const { table, queue } = storage
    const job = responseJob({ table, queue, clock: worker.clock, signals: createLocalSignals() })
    const row: ResponseRecord = responseRow({ status: 'queued', request: responseRequest({ background: true }) })
    await table.responses.create(row)
    const slow = await table.responses.acquireLease(row, { owner: 'slow', now: 1, expiresAt: 2 })
    if (slow.kind !== 'acquired') throw new Error(`The row is ${slow.kind}`)
    const owner = { kind: 'response', tenant: row.tenant, id: row.id } as const
    const batch = (seq: number) => ({
      firstSeq: seq,
      events: [{ seq, at: 1, type: 'response.created', data: {} }],
      fence: slow.row.fence,
      sourceSeq: null,
    })
    expect(await table.events.append(owner, batch(0))).toBe(true)
    expect(await failAsDeadLetter(worker, job, row)).toBe('ended')
    expect(await table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'failed', error: { code: 'dead_letter' } })
    expect(await table.events.append(owner, batch(1))).toBe(false)
  })
})

describe('the recovery of a step', () => {
  it('releases the row at once when another worker wrote its event log', async () => {
    const stand = startWorker()
    const { worker, job, delays } = stand
    const row = await newJob(stand)
    expect(await recover(worker, job, { row, cause: new EventLogConflictError() })).toEqual({ kind: 'released' })
    expect(await job.rows.get(row.tenant, row.id)).toMatchObject({ lease: null, stepsFailSince: null })
    expect(delays).toEqual([])
  })

  it('leaves the row to its successor when the lease was lost', async () => {
    const stand = startWorker()
    const { worker, job, time } = stand
    const row = await newJob(stand)
    time.now += LEASE_MS
    await acquireLease(worker, job.rows, row)
    expect(await recover(worker, job, { row, cause: new LeaseLostError(row.id) })).toEqual({ kind: 'lost' })
    expect(await recover(worker, job, { row, cause: new Error('The store does not answer') })).toEqual({ kind: 'held' })
  })

  it('retries any other failure with a delay', async () => {
    const stand = startWorker()
    const { worker, job, delays } = stand
    const row = await newJob(stand)
    expect(await recover(worker, job, { row, cause: new Error('The store does not answer') })).toEqual({
      kind: 'rescheduled',
      retryInSeconds: 1,
    })
    expect(delays).toEqual([1])
  })
})
