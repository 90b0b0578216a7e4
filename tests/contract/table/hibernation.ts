import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Container, Snapshot } from '../../../services/model/containers/container.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, containerRow } from '../../support/rows.ts'

const CLAIM = { objectKey: 'tenants/t/c/snapshots/one', expiresAt: T0 + 30_000 } as const
const OTHER = { objectKey: 'tenants/t/c/snapshots/two', expiresAt: T0 + 90_000 } as const
const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  objectKey: CLAIM.objectKey,
  bytes: 7,
  takenAt: T0,
  tries: 0,
  isRestored: false,
  ...change,
})

export function hibernationContract(table: () => Table): void {
  const store = () => table().containers
  const created = async (change: Partial<Container> = {}): Promise<Container> => {
    const row = containerRow({ sandboxId: 'sbx_1', generation: 1, ...change })
    await store().create(row)
    return row
  }
  const claim = (row: Container, wanted: typeof CLAIM | typeof OTHER = CLAIM, now = T0) =>
    store().claimHibernation(row.tenant, row.id, { idle: row, claim: wanted, now })

  describe('hibernation', () => {
    it('is claimed once by concurrent workers, and due when the claim ends', async () => {
      const row = await created()
      const claims = Array.from({ length: 10 }, (_, index) => ({ ...CLAIM, objectKey: `tenants/t/c/snapshots/${index}` }))
      const answers = await Promise.all(
        claims.map((wanted) => store().claimHibernation(row.tenant, row.id, { idle: row, claim: wanted, now: T0 })),
      )
      const [winner, ...others] = answers.filter((answer) => answer !== null)
      expect(others).toEqual([])
      expect(winner).toEqual({ ...row, hibernating: winner?.hibernating, dueAt: CLAIM.expiresAt })
    })

    it('is not claimed with a queued execution, after another use, without a sandbox, or for a deleted container', async () => {
      const waiting = await created({ queue: ['exec_1'] })
      expect(await claim(waiting)).toBeNull()
      expect(await claim(await created({ commands: ['cmd_1'] }))).toBeNull()
      const used = await created()
      expect(
        await store().claimHibernation(used.tenant, used.id, { idle: { ...used, lastActiveAt: T0 - 1 }, claim: CLAIM, now: T0 }),
      ).toBeNull()
      expect(await store().claimHibernation(used.tenant, used.id, { idle: { ...used, generation: 0 }, claim: CLAIM, now: T0 })).toBeNull()
      expect(await claim(await created({ sandboxId: null }))).toBeNull()
      const deleted = await created()
      await store().markDeleted(deleted.tenant, deleted.id, T0)
      expect(await claim(deleted)).toBeNull()
    })

    it('is claimed by another worker after the claim has expired, and the first one can change nothing', async () => {
      const row = await created()
      await claim(row)
      expect(await claim(row, OTHER, CLAIM.expiresAt - 1)).toBeNull()
      expect(await store().renewHibernation(row.tenant, row.id, { objectKey: CLAIM.objectKey, expiresAt: T0 + 60_000 })).toMatchObject({
        hibernating: { objectKey: CLAIM.objectKey, expiresAt: T0 + 60_000 },
      })
      expect(await claim(row, OTHER, T0 + 60_000)).toMatchObject({ hibernating: OTHER })
      expect(await store().renewHibernation(row.tenant, row.id, { objectKey: CLAIM.objectKey, expiresAt: T0 + 99_000 })).toBeNull()
      const kept = { snapshot: snapshot(), stateLost: null, lostFiles: [], dueAt: T0 }
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toBeNull()
      expect(await store().endHibernation(row.tenant, row.id, CLAIM.objectKey)).toBeNull()
      expect(await store().get(row.tenant, row.id)).toMatchObject({ hibernating: OTHER, sandboxId: 'sbx_1', snapshot: null })
    })

    it('detaches the sandbox and keeps the snapshot, also when repeated', async () => {
      const row = await created()
      await claim(row)
      const kept = { snapshot: snapshot(), stateLost: null, lostFiles: [], dueAt: T0 + 5 }
      const hibernated = { ...row, sandboxId: null, snapshot: snapshot(), hibernating: null, dueAt: T0 + 5 }
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toEqual(hibernated)
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toEqual(hibernated)
    })

    it('keeps the sandbox of a container that is saved for copies', async () => {
      const row = await created()
      await claim(row)
      const saved = snapshot({ isRestored: true, copiedAt: T0, lost: [{ what: 'variable x', reason: 'a socket' }] })
      const kept = { snapshot: saved, stateLost: null, lostFiles: [], dueAt: T0 + 5 }
      const after = { ...row, snapshot: saved, hibernating: null, dueAt: T0 + 5 }
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toEqual(after)
      expect(await store().get(row.tenant, row.id)).toEqual(after)
    })

    it('is claimed with commands if they are suspended too, and fails if one was added', async () => {
      const row = await created({ commands: ['cmd_1'], backgroundCommands: ['cmd_2'] })
      const kept = { snapshot: snapshot({ suspendedIn: 'sbx_1' }), stateLost: null, lostFiles: [], dueAt: T0 + 5 }
      const wanted = { idle: row, claim: CLAIM, now: T0, keepsCommands: true }
      expect(await store().claimHibernation(row.tenant, row.id, wanted)).toMatchObject({ hibernating: CLAIM })
      const change = { objectKey: CLAIM.objectKey, ...kept }
      expect(await store().hibernate(row.tenant, row.id, change)).toBeNull()
      expect(await store().hibernate(row.tenant, row.id, { ...change, commandsSince: row.lastActiveAt - 1 })).toBeNull()
      const suspended = { snapshot: kept.snapshot, sandboxId: 'sbx_1', commands: ['cmd_1'], backgroundCommands: ['cmd_2'] }
      expect(await store().hibernate(row.tenant, row.id, { ...change, commandsSince: row.lastActiveAt })).toMatchObject(suspended)
      const queued = await created({ queue: ['exec_1'], commands: ['cmd_1'] })
      expect(await store().claimHibernation(queued.tenant, queued.id, { ...wanted, idle: queued })).toBeNull()
    })

    it('records the files that are lost with the sandbox, until work in a later one has reported them', async () => {
      const row = await created()
      await claim(row)
      const lostFiles = [{ what: 'file "link"', reason: 'symlink' }]
      const kept = { snapshot: snapshot(), stateLost: null, lostFiles, dueAt: T0 + 5 }
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toMatchObject({ lostFiles })
      await store().setSandbox(row.tenant, row.id, { generation: row.generation, sandboxId: 'sbx_2', stateLost: null, dueAt: null })
      await store().markFileLossReported(row.tenant, row.id, 'sbx_1')
      expect(await store().get(row.tenant, row.id)).toMatchObject({ lostFiles })
      await store().markFileLossReported(row.tenant, row.id, 'sbx_2')
      expect(await store().get(row.tenant, row.id)).not.toHaveProperty('lostFiles')
    })

    it('fails if an execution arrived or the container was deleted', async () => {
      const row = await created()
      await claim(row)
      await store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0 + 1, dueAt: T0 + 2 })
      const kept = { snapshot: snapshot(), stateLost: null, lostFiles: [], dueAt: T0 }
      expect(await store().hibernate(row.tenant, row.id, { objectKey: CLAIM.objectKey, ...kept })).toBeNull()
      expect(await store().endHibernation(row.tenant, row.id, CLAIM.objectKey)).toMatchObject({
        queue: ['exec_1'],
        sandboxId: 'sbx_1',
        snapshot: null,
        hibernating: null,
      })
      const deleted = await created()
      await claim(deleted)
      await store().markDeleted(deleted.tenant, deleted.id, T0)
      expect(await store().renewHibernation(deleted.tenant, deleted.id, { objectKey: CLAIM.objectKey, expiresAt: T0 })).toBeNull()
      expect(await store().hibernate(deleted.tenant, deleted.id, { objectKey: CLAIM.objectKey, ...kept })).toBeNull()
      expect(await store().endHibernation(deleted.tenant, deleted.id, CLAIM.objectKey)).toMatchObject({ hibernating: null })
    })
  })

  describe('restoring', () => {
    const { objectKey } = CLAIM

    it('counts each sandbox once and allows none after the snapshot was restored', async () => {
      const row = await created({ snapshot: snapshot() })
      expect(await store().beginRestore(row.tenant, row.id, { generation: 1, objectKey })).toMatchObject({
        snapshot: { tries: 1, isRestored: false },
      })
      expect(await store().beginRestore(row.tenant, row.id, { generation: 1, objectKey })).toMatchObject({
        snapshot: { tries: 1, triedBy: 1 },
      })
      await store().setSandbox(row.tenant, row.id, { generation: 1, sandboxId: newId('sandbox'), stateLost: null, dueAt: null })
      const { generation = 0 } = (await store().get(row.tenant, row.id)) ?? {}
      expect(generation).toBe(2)
      expect(await store().beginRestore(row.tenant, row.id, { generation: 1, objectKey })).toBeNull()
      expect(await store().beginRestore(row.tenant, row.id, { generation: 2, objectKey })).toMatchObject({
        snapshot: { tries: 2, triedBy: 2 },
      })
      const awake = { snapshot: snapshot({ tries: 2, triedBy: 2, isRestored: true }) }
      expect(await store().endRestore(row.tenant, row.id, { generation: 2, objectKey })).toMatchObject(awake)
      expect(await store().endRestore(row.tenant, row.id, { generation: 2, objectKey })).toMatchObject(awake)
      expect(await store().beginRestore(row.tenant, row.id, { generation: 2, objectKey })).toBeNull()
    })

    it('is for this sandbox and this snapshot only', async () => {
      const row = await created({ snapshot: snapshot() })
      for (const verb of ['beginRestore', 'endRestore'] as const) {
        expect(await store()[verb](row.tenant, row.id, { generation: 2, objectKey })).toBeNull()
        expect(await store()[verb](row.tenant, row.id, { generation: 1, objectKey: OTHER.objectKey })).toBeNull()
      }
      expect(await store().get(row.tenant, row.id)).toEqual(row)
    })

    it('allows a detach as hibernated only while no kernel has received the snapshot', async () => {
      const row = await created({ snapshot: snapshot() })
      const none = { sandboxId: null, stateLost: null, lostFiles: [], dueAt: null }
      await store().endRestore(row.tenant, row.id, { generation: 1, objectKey })
      expect(await store().setSandbox(row.tenant, row.id, { generation: 1, ...none, whileHibernated: true })).toBeNull()
      const sleeper = await created({ snapshot: snapshot() })
      expect(await store().setSandbox(sleeper.tenant, sleeper.id, { generation: 1, ...none, whileHibernated: true })).toMatchObject({
        sandboxId: null,
      })
    })
  })
}
