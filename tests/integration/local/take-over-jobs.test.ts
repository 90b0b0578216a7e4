import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { takeOverJobs } from '../../../services/entries/local/take-over-jobs.ts'
import { executionRow, responseRow, sandboxRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

const now = Date.now()
const lease = (owner: string, at = now) => ({ owner, now: at, expiresAt: at + LEASE_MS })
/** The rows due for the reconciler at this moment. */
const due = async (at: number) => (await storage.table.due(at, 100)).map(({ id }) => id)

describe('the jobs of a stopped server', () => {
  it('are due at once, without a lease, and reject writes of their former workers', async () => {
    const { executions, responses, sandboxes } = storage.table
    const held = executionRow({ dueAt: now + 10_000 })
    const waiting = executionRow({ dueAt: now + 10_000 })
    const ended = executionRow({ dueAt: now + 10_000 })
    const turn = responseRow({ dueAt: now + 10_000 })
    for (const row of [held, waiting, ended]) await executions.create(row)
    await responses.create(turn)
    const starting = sandboxRow({ state: 'starting', dueAt: now + 10_000 })
    await sandboxes.create(starting)
    const dead = await executions.acquireLease(held, lease('dead'))
    const deadTurn = await responses.acquireLease(turn, lease('dead'))
    const last = await executions.acquireLease(ended, lease('dead'))
    if (dead.kind !== 'acquired' || deadTurn.kind !== 'acquired' || last.kind !== 'acquired') throw new Error('The lease was not granted')
    await executions.commit({ tenant: ended.tenant, id: ended.id, fence: last.row.fence }, { status: 'succeeded' })
    expect(await due(now)).toEqual([])
    expect(await executions.acquireLease(held, lease('next'))).toMatchObject({ kind: 'busy' })

    expect(await takeOverJobs(storage.table, now)).toBe(3)

    expect((await due(now)).toSorted()).toEqual([held.id, waiting.id, turn.id, starting.id].toSorted())
    expect(await executions.acquireLease(held, lease('next'))).toMatchObject({
      kind: 'acquired',
      row: { fence: dead.row.fence + 1 },
    })
    expect(await responses.acquireLease(turn, lease('next'))).toMatchObject({ kind: 'acquired' })
    expect(await executions.commit({ tenant: held.tenant, id: held.id, fence: dead.row.fence }, { status: 'succeeded' })).toBeNull()
  })
})
