import { describe, expect, it } from 'vitest'
import { RECONCILE_AFTER_MS, acceptExecution } from '../../../services/core/executions/accept-execution.ts'
import { newId } from '../../../services/core/ids.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { reconcile } from '../../../services/orchestrator/reconciler/reconcile.ts'
import { executionRow, responseRow, userFileRow } from '../../support/rows.ts'
import { HOUR_MS, ReconcileScene } from './reconcile-scene.ts'

const scene = new ReconcileScene()

describe('rows that cannot be repaired', () => {
  it.each([
    ['one after another', 1],
    ['all in one moment', 0],
  ])('do not keep a pass from the rows behind them, however many they are, due %s', async (_, apart) => {
    const tenant = newId('tenant')
    const stuck = Array.from({ length: 510 }, (_, index) => userFileRow({ tenant, expiresAt: 1_000 + index * apart }))
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => scene.storage.table.userFiles.create(file)))
    const container = await scene.newContainer()
    const id = await scene.accept(container)
    scene.now += RECONCILE_AFTER_MS + 1
    const objects = { ...scene.storage.objects, deletePrefix: () => Promise.reject(new Error('The store is down')) }
    expect(await reconcile({ ...scene.deps, objects })).toMatchObject({ failed: stuck.length })
    expect((await scene.storage.table.executions.get(container.tenant, id))?.dueAt).toBe(scene.now + RECONCILE_AFTER_MS)
    // The next pass begins with others.
    expect((await scene.storage.table.due(scene.now, 1_000)).filter(({ kind }) => kind === 'file')).toEqual([])
    expect((await scene.storage.table.due(scene.now + 5_000, 1_000)).filter(({ kind }) => kind === 'file')).toHaveLength(stuck.length)
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => scene.storage.table.userFiles.remove(tenant, file.id)))
  })
})

describe('a row whose repair takes long', () => {
  it('holds up no other one', async () => {
    const [slow, quick] = [await scene.newContainer(), await scene.newContainer()]
    const [slowId, quickId] = [await scene.accept(slow), await scene.accept(quick)]
    const other = Promise.withResolvers<void>()
    const { executions } = scene.storage.table
    const get: typeof executions.get = async (tenant, id) => {
      if (id === slowId) await other.promise
      return executions.get(tenant, id)
    }
    const postpone: typeof executions.postpone = async (tenant, id, dueAt) => {
      await executions.postpone(tenant, id, dueAt)
      if (id === quickId) other.resolve()
    }
    scene.now += RECONCILE_AFTER_MS + 1
    expect(await reconcile({ ...scene.deps, table: { ...scene.deps.table, executions: { ...executions, get, postpone } } })).toMatchObject({
      failed: 0,
    })
    for (const [{ tenant }, id] of [[slow, slowId] as const, [quick, quickId] as const])
      expect((await executions.get(tenant, id))?.dueAt).toBe(scene.now + RECONCILE_AFTER_MS)
  })
})

describe('a job that every step fails at', () => {
  it('is ended once its own time is long over, and its container goes on', async () => {
    const container = await scene.newContainer()
    const id = await scene.accept(container)
    const next = await scene.accept(container)
    const taken = await scene.storage.table.executions.acquireLease(container.tenant, id, {
      owner: 'w',
      now: scene.now,
      expiresAt: scene.now + LEASE_MS,
    })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await scene.storage.table.executions.commit(container.tenant, id, taken.row.fence, {
      status: 'running',
      startedAt: scene.now,
      sandboxId: 'sbx_1',
    })
    await scene.passAt(scene.now + LEASE_MS + 1)
    expect(await scene.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'running' })
    await scene.passAt(scene.now + HOUR_MS / 2)
    expect(await scene.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'failed', reason: 'dead_letter' })
    expect(await scene.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [next] })
  })

  it('is ended when no sandbox ever came', async () => {
    const container = await scene.newContainer()
    const id = await scene.accept(container)
    await scene.nudge(container, id)
    expect(await scene.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'starting', lease: null })
    await scene.passAt(scene.now + HOUR_MS + 1)
    expect(await scene.storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'timed_out', reason: 'deadline' })
  })

  it('is ended as a response too', async () => {
    const row = responseRow({ createdAt: scene.now, dueAt: scene.now })
    await scene.storage.table.responses.create(row)
    await scene.passAt(scene.now + 1)
    expect(await scene.storage.table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'queued' })
    await scene.passAt(scene.now + HOUR_MS)
    expect(await scene.storage.table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'failed', error: { code: 'dead_letter' } })
  })
})

describe('a head that nobody takes off', () => {
  it('is taken off by who waits behind it, however busy the container is', async () => {
    const container = await scene.newContainer()
    // A crash came before the row of the first was written.
    await scene.storage.table.containers.enqueue(container.tenant, container.id, 'exec_nobody', scene.now, scene.now + RECONCILE_AFTER_MS)
    const id = await scene.accept(container)
    await scene.nudge(container, id)
    expect(await scene.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: ['exec_nobody', id] })
    scene.now += RECONCILE_AFTER_MS
    const another = await scene.accept(container)
    await scene.nudge(container, id)
    expect(await scene.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [id, another] })
  })
})

describe('an acceptance that is repeated', () => {
  it('never removes the result of the first, also when the container is gone by then', async () => {
    const container = await scene.newContainer()
    const id = await scene.accept(container)
    const { tenant } = container
    const taken = await scene.storage.table.executions.acquireLease(tenant, id, {
      owner: 'w',
      now: scene.now,
      expiresAt: scene.now + LEASE_MS,
    })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await scene.storage.table.executions.commit(tenant, id, taken.row.fence, { status: 'succeeded', endedAt: scene.now })
    await scene.storage.table.containers.markDeleted(tenant, container.id, scene.now)
    await expect(acceptExecution(scene.deps, executionRow({ tenant, id, containerId: container.id }), scene.now)).rejects.toMatchObject({
      code: 'container_not_found',
    })
    expect(await scene.storage.table.executions.get(tenant, id)).toMatchObject({ status: 'succeeded' })
  })
})
