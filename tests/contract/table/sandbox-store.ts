import { describe, expect, it } from 'vitest'
import type { Table } from '../../../services/ports/table.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { T0, sandboxRow } from '../../support/rows.ts'

export function sandboxStoreContract(table: () => Table): void {
  const store = () => table().sandboxes
  const created = async (change: Partial<Sandbox> = {}): Promise<Sandbox> => {
    const row = sandboxRow(change)
    expect(await store().create(row)).toBe(true)
    return row
  }
  const address = { kind: 'unix', socketPath: '/run/control.sock' } as const
  const by = (containerId: string) => ({ tenant: 'tnt_1', containerId })

  describe('sandboxes', () => {
    it('are returned as written, and created once', async () => {
      const row = await created({ address, claimedBy: by('cntr_1'), readyAt: T0 })
      expect(await store().create(row)).toBe(false)
      expect(await store().get(row.id)).toEqual(row)
      expect(await store().get('sbx_none')).toBeNull()
    })

    it('are claimed by exactly one of many concurrent containers', async () => {
      const row = await created({ state: 'ready' })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store().claim(row.id, by(`cntr_${index}`), { now: T0 + 1, dueAt: T0 + 2 })),
      )
      const won = answers.filter((answer) => answer !== null)
      expect(won).toEqual([{ ...row, state: 'claimed', claimedBy: won[0]?.claimedBy, claimedAt: T0 + 1, dueAt: T0 + 2 }])
      expect(await store().get(row.id)).toEqual(won[0])
    })

    it.each(['starting', 'claimed', 'suspending', 'suspended', 'stopping', 'gone'] as const)(
      'cannot be claimed while they are %s',
      async (state) => {
        const row = await created({ state })
        expect(await store().claim(row.id, by('cntr_1'), { now: T0, dueAt: T0 })).toBeNull()
        expect(await store().get(row.id)).toEqual(row)
      },
    )

    it('that were started for a container can be claimed only by that container', async () => {
      const row = await created({ claimedBy: by('cntr_1'), claimedAt: T0 })
      await store().move(row.id, { from: ['starting'] }, { state: 'ready', address, readyAt: T0 + 1 })
      expect((await store().ready('1g', 1000)).map(({ id }) => id)).not.toContain(row.id)
      expect(await store().claim(row.id, by('cntr_2'), { now: T0, dueAt: T0 })).toBeNull()
      expect(await store().claim(row.id, by('cntr_1'), { now: T0 + 2, dueAt: T0 })).toMatchObject({
        state: 'claimed',
        claimedBy: by('cntr_1'),
      })
    })

    it('are reserved while starting by exactly one of many concurrent containers, and offered to no other', async () => {
      const row = await created()
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => store().reserve(row.id, by(`cntr_${index}`), T0 + 1)))
      const won = answers.filter((answer) => answer !== null)
      expect(won).toEqual([{ ...row, claimedBy: won[0]?.claimedBy, claimedAt: T0 + 1 }])
      expect(await store().move(row.id, { from: ['starting'], unclaimed: true }, { state: 'ready' })).toBeNull()
      await store().move(row.id, { from: ['starting'] }, { state: 'ready' })
      expect((await store().ready('1g', 1000)).map(({ id }) => id)).not.toContain(row.id)
      expect(await store().claim(row.id, by('cntr_other'), { now: T0, dueAt: T0 })).toBeNull()
    })

    it('that start for the pool are listed by tier, oldest first, until they are reserved, ready or stopped', async () => {
      const listed = async (...rows: readonly Sandbox[]): Promise<number[]> => {
        const ids = (await store().starting('64g', 1000)).map(({ id }) => id)
        return rows.map(({ id }) => ids.indexOf(id))
      }
      const tier = { memoryTier: '64g' } as const
      const second = await created({ ...tier, createdAt: T0 + 2 })
      const first = await created({ ...tier, createdAt: T0 + 1 })
      const owned = await created({ ...tier, claimedBy: by('cntr_1') })
      expect(await listed(first, second, owned)).toEqual([0, 1, -1])
      await store().reserve(first.id, by('cntr_2'), T0)
      await store().move(second.id, { from: ['starting'] }, { platformId: 'arn', launchedAt: T0 + 3 })
      expect(await store().get(second.id)).toEqual({ ...second, platformId: 'arn', launchedAt: T0 + 3 })
      expect(await listed(first, second)).toEqual([-1, 0])
      await store().move(second.id, { from: ['starting'] }, { state: 'ready', address, readyAt: T0 + 4 })
      expect(await listed(second)).toEqual([-1])
      expect((await store().ready('64g', 1000)).map(({ id }) => id)).toEqual([second.id])
      await store().remove(second.id)
    })

    it.each(['ready', 'claimed', 'suspending', 'suspended', 'stopping', 'gone'] as const)(
      'cannot be reserved while they are %s',
      async (state) => {
        const row = await created({ state })
        expect(await store().reserve(row.id, by('cntr_1'), T0)).toBeNull()
        expect(await store().get(row.id)).toEqual(row)
      },
    )

    it('change state only from the expected state', async () => {
      const row = await created()
      expect(await store().move(row.id, { from: ['ready', 'claimed'] }, { state: 'gone' })).toBeNull()
      expect(await store().move(row.id, { from: ['starting'] }, { state: 'ready', address, readyAt: T0 + 5, dueAt: T0 + 6 })).toEqual({
        ...row,
        state: 'ready',
        address,
        readyAt: T0 + 5,
        dueAt: T0 + 6,
      })
      expect(await store().move(row.id, { from: ['ready'] }, { dueAt: null })).toMatchObject({ state: 'ready', dueAt: null })
      expect(await store().move('sbx_none', { from: ['ready'] }, { state: 'gone' })).toBeNull()
    })

    it('are offered oldest first, by tier, from ready to claimed', async () => {
      const mine = async (change: Partial<Sandbox>): Promise<Sandbox> => created({ memoryTier: '64g', ...change })
      const late = await mine({ createdAt: T0 + 2 })
      const early = await mine({ createdAt: T0 + 1, state: 'ready' })
      const other = await created({ memoryTier: '16g', state: 'ready' })
      await store().move(late.id, { from: ['starting'] }, { state: 'ready', readyAt: T0 + 3 })
      expect(await store().ready('64g', 10)).toEqual([early, { ...late, state: 'ready', readyAt: T0 + 3 }])
      expect(await store().ready('64g', 1)).toEqual([early])
      expect(await store().ready('16g', 10)).toEqual([other])
      await store().claim(early.id, by('cntr_1'), { now: T0, dueAt: T0 })
      await store().move(late.id, { from: ['ready'] }, { state: 'stopping' })
      expect(await store().ready('64g', 10)).toEqual([])
      expect((await store().all()).map(({ id }) => id)).toEqual(expect.arrayContaining([early.id, late.id, other.id]))
    })

    it('are listed by the tenant that holds them, from the reservation to the end', async () => {
      const ids = async (tenant = 'tnt_held'): Promise<readonly string[]> => (await store().ofTenant(tenant)).map(({ id }) => id)
      const mine = { tenant: 'tnt_held', containerId: 'cntr_1' }
      const started = await created({ claimedBy: mine })
      const warm = await created()
      const reserved = await created()
      await created({ claimedBy: { tenant: 'tnt_held2', containerId: 'cntr_2' } })
      await store().move(warm.id, { from: ['starting'] }, { state: 'ready', address, readyAt: T0 })
      expect(await ids()).toEqual([started.id])
      await store().claim(warm.id, mine, { now: T0, dueAt: T0 })
      await store().reserve(reserved.id, mine, T0)
      await store().move(started.id, { from: ['starting'] }, { state: 'claimed', address, readyAt: T0 })
      await store().move(reserved.id, { from: ['starting'] }, { state: 'claimed', address, readyAt: T0 })
      expect((await ids()).toSorted()).toEqual([started.id, warm.id, reserved.id].toSorted())
      expect(await ids('tnt_hel')).toEqual([])
      for (const state of ['suspending', 'suspended', 'starting', 'claimed'] as const) {
        await store().move(warm.id, { from: ['claimed', 'suspending', 'suspended', 'starting'] }, { state })
        expect(await ids()).toContain(warm.id)
      }
      await store().move(warm.id, { from: ['claimed'] }, { state: 'stopping', dueAt: T0 })
      await store().remove(started.id)
      await store().move(reserved.id, { from: ['claimed'] }, { state: 'gone', dueAt: T0 })
      // A row that stops may be listed.
      expect((await ids()).filter((id) => id !== warm.id)).toEqual([])
    })

    it('are counted until they are gone', async () => {
      const row = await created({ state: 'stopping' })
      const ids = async () => (await store().all()).map(({ id }) => id)
      expect(await ids()).toContain(row.id)
      await store().move(row.id, { from: ['stopping'] }, { state: 'gone', dueAt: null })
      expect(await ids()).not.toContain(row.id)
      expect(await store().get(row.id)).toMatchObject({ state: 'gone' })
      await store().remove(row.id)
      expect(await store().get(row.id)).toBeNull()
    })
  })
}
