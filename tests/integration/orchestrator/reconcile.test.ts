import { describe, expect, it } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { RECONCILE_AFTER_MS } from '../../../services/model/lease.ts'
import { newId } from '../../../services/model/ids.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { executionRow, responseRow, userFileRow } from '../../support/rows.ts'
import { HOUR_MS, ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()

describe('rows whose repair fails', () => {
  it.each([
    ['one after another', 1],
    ['all in one moment', 0],
  ])('do not block the rows behind them, due %s', async (_, apart) => {
    const tenant = newId('tenant')
    const stuck = Array.from({ length: 510 }, (_, index) => userFileRow({ tenant, expiresAt: 1_000 + index * apart }))
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => fixture.storage.table.userFiles.create(file)))
    const container = await fixture.newContainer()
    const id = await fixture.accept(container)
    fixture.now += RECONCILE_AFTER_MS + 1
    const objects = { ...fixture.storage.objects, deletePrefix: () => Promise.reject(new Error('The object store is unavailable')) }
    expect(await reconcile({ ...fixture.deps, objects })).toMatchObject({ failed: stuck.length })
    expect((await fixture.storage.table.executions.get(container.tenant, id))?.dueAt).toBe(fixture.now + RECONCILE_AFTER_MS)
    // The next pass starts with other rows.
    expect((await fixture.storage.table.due(fixture.now, 1_000)).filter(({ kind }) => kind === 'file')).toEqual([])
    expect((await fixture.storage.table.due(fixture.now + 5_000, 1_000)).filter(({ kind }) => kind === 'file')).toHaveLength(stuck.length)
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => fixture.storage.table.userFiles.remove(tenant, file.id)))
  })
})

describe('a row with a slow repair', () => {
  it('delays no other row', async () => {
    const [slow, quick] = [await fixture.newContainer(), await fixture.newContainer()]
    const [slowId, quickId] = [await fixture.accept(slow), await fixture.accept(quick)]
    const other = Promise.withResolvers<void>()
    const { executions } = fixture.storage.table
    const get: typeof executions.get = async (tenant, id) => {
      if (id === slowId) await other.promise
      return executions.get(tenant, id)
    }
    const postpone: typeof executions.postpone = async (tenant, id, dueAt) => {
      await executions.postpone(tenant, id, dueAt)
      if (id === quickId) other.resolve()
    }
    fixture.now += RECONCILE_AFTER_MS + 1
    expect(
      await reconcile({ ...fixture.deps, table: { ...fixture.deps.table, executions: { ...executions, get, postpone } } }),
    ).toMatchObject({
      failed: 0,
    })
    for (const [{ tenant }, id] of [[slow, slowId] as const, [quick, quickId] as const])
      expect((await executions.get(tenant, id))?.dueAt).toBe(fixture.now + RECONCILE_AFTER_MS)
  })
})

describe('a job with only failing steps', () => {
  it('ends after its time limit, and its container stays usable', async () => {
    const container = await fixture.newContainer()
    const id = await fixture.accept(container)
    const next = await fixture.accept(container)
    const acquired = await fixture.storage.table.executions.acquireLease(
      { tenant: container.tenant, id },
      {
        owner: 'w',
        now: fixture.now,
        expiresAt: fixture.now + LEASE_MS,
      },
    )
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    await fixture.storage.table.executions.commit(
      { tenant: container.tenant, id, fence: acquired.row.fence },
      {
        status: 'running',
        startedAt: fixture.now,
        sandboxId: 'sbx_1',
      },
    )
    await fixture.passAt(fixture.now + LEASE_MS + 1)
    expect(await fixture.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'running' })
    await fixture.passAt(fixture.now + HOUR_MS / 2)
    expect(await fixture.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'failed', reason: 'dead_letter' })
    expect(await fixture.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [next] })
  })

  it('ends when no sandbox was started for it', async () => {
    const container = await fixture.newContainer()
    const id = await fixture.accept(container)
    await fixture.sendStep(container, id)
    expect(await fixture.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'starting', lease: null })
    await fixture.passAt(fixture.now + HOUR_MS + 1)
    expect(await fixture.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'timed_out', reason: 'deadline' })
  })

  it('ends when it is a response', async () => {
    const row = responseRow({ createdAt: fixture.now, dueAt: fixture.now })
    await fixture.storage.table.responses.create(row)
    await fixture.passAt(fixture.now + 1)
    expect(await fixture.storage.table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'queued' })
    await fixture.passAt(fixture.now + HOUR_MS)
    expect(await fixture.storage.table.responses.get(row.tenant, row.id)).toMatchObject({
      status: 'failed',
      error: { code: 'dead_letter' },
    })
  })
})

describe('a job that a worker holds', () => {
  const lease = () => ({ owner: 'w', now: fixture.now, expiresAt: fixture.now + LEASE_MS })
  const jobs = {
    execution: async () => {
      const row = executionRow({ createdAt: fixture.now, dueAt: fixture.now + RECONCILE_AFTER_MS })
      const { executions } = fixture.storage.table
      await executions.create(row)
      await executions.acquireLease(row, lease())
      return { id: row.id, read: () => executions.get(row.tenant, row.id) }
    },
    response: async () => {
      const row = responseRow({ createdAt: fixture.now, dueAt: fixture.now + RECONCILE_AFTER_MS })
      const { responses } = fixture.storage.table
      await responses.create(row)
      await responses.acquireLease(row, lease())
      return { id: row.id, read: () => responses.get(row.tenant, row.id) }
    },
  }

  it.each(['execution', 'response'] as const)(
    'gets a message when its lease has ended, as %s, and not when it was due before',
    async (kind) => {
      const { id, read } = await jobs[kind]()
      const leaseEnd = fixture.now + LEASE_MS
      const sent: unknown[] = []
      const queue: typeof fixture.deps.queue = { ...fixture.deps.queue, send: async (_, message) => void sent.push(message) }
      const passAt = async (at: number): Promise<unknown[]> => {
        fixture.now = at
        expect(await reconcile({ ...fixture.deps, queue })).toMatchObject({ failed: 0 })
        return sent.filter((message) => JSON.stringify(message).includes(id))
      }
      expect(await passAt(fixture.now + RECONCILE_AFTER_MS)).toEqual([])
      expect(await read()).toMatchObject({ dueAt: leaseEnd, lease: { owner: 'w' } })
      expect(await passAt(leaseEnd)).toHaveLength(1)
    },
  )
})

describe('a queue head without a worker', () => {
  it('is removed by the execution behind it, even in a busy container', async () => {
    const container = await fixture.newContainer()
    // A crash before the row of the first execution was written.
    await fixture.storage.table.containers.enqueue(container.tenant, container.id, {
      executionId: 'exec_absent',
      now: fixture.now,
      dueAt: fixture.now + RECONCILE_AFTER_MS,
    })
    const id = await fixture.accept(container)
    await fixture.sendStep(container, id)
    expect(await fixture.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: ['exec_absent', id] })
    fixture.now += RECONCILE_AFTER_MS
    const another = await fixture.accept(container)
    await fixture.sendStep(container, id)
    expect(await fixture.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [id, another] })
  })
})

describe('a repeated acceptance', () => {
  it('keeps the result of the first one, even after its container was deleted', async () => {
    const container = await fixture.newContainer()
    const id = await fixture.accept(container)
    const { tenant } = container
    const acquired = await fixture.storage.table.executions.acquireLease(
      { tenant, id },
      {
        owner: 'w',
        now: fixture.now,
        expiresAt: fixture.now + LEASE_MS,
      },
    )
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    await fixture.storage.table.executions.commit({ tenant, id, fence: acquired.row.fence }, { status: 'succeeded', endedAt: fixture.now })
    await fixture.storage.table.containers.markDeleted(tenant, container.id, fixture.now)
    await expect(acceptExecution(fixture.deps, executionRow({ tenant, id, containerId: container.id }), fixture.now)).rejects.toMatchObject(
      {
        code: 'container_not_found',
      },
    )
    expect(await fixture.storage.table.executions.get(tenant, id)).toMatchObject({ status: 'succeeded' })
  })
})
