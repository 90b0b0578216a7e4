import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { containerRow, executionRow, responseRow, sandboxRow } from '../../support/rows.ts'

/** Earlier than every other row of the suite. */
const EARLY = 1_000_000

export function dueContract(table: () => Table): void {
  const dueNow = async (limit = 100) => (await table().due(EARLY + 999, limit)).map(({ kind, id, dueAt }) => ({ kind, id, dueAt }))

  describe('due rows', () => {
    it('include every kind, soonest first, no early and no ended rows', async () => {
      const tenant = newId('tenant')
      const execution = executionRow({ tenant, dueAt: EARLY + 3 })
      const response = responseRow({ tenant, dueAt: EARLY + 1 })
      const container = containerRow({ tenant, dueAt: EARLY + 2 })
      const sandbox = sandboxRow({ dueAt: EARLY + 4 })
      const later = executionRow({ tenant, dueAt: EARLY + 1000 })
      await table().executions.create(execution)
      await table().executions.create(later)
      await table().responses.create(response)
      await table().containers.create(container)
      await table().sandboxes.create(sandbox)

      expect(await dueNow()).toEqual([
        { kind: 'response', id: response.id, dueAt: EARLY + 1 },
        { kind: 'container', id: container.id, dueAt: EARLY + 2 },
        { kind: 'execution', id: execution.id, dueAt: EARLY + 3 },
        { kind: 'sandbox', id: sandbox.id, dueAt: EARLY + 4 },
      ])
      expect((await table().due(EARLY + 999, 100)).filter((row) => row.kind !== 'sandbox').every((row) => row.tenant === tenant)).toBe(true)
      expect(await dueNow(2)).toHaveLength(2)
      expect((await table().due(EARLY + 999, 100, EARLY + 3)).map(({ kind }) => kind)).toEqual(['execution', 'sandbox'])

      await table().executions.commit({ tenant, id: execution.id, fence: 0 }, { status: 'failed', reason: 'deadline' })
      await table().responses.postpone(tenant, response.id, EARLY + 30_000)
      await table().containers.postpone(tenant, container.id, null)
      await table().sandboxes.move(sandbox.id, { from: ['starting'] }, { dueAt: null })
      expect(await dueNow()).toEqual([])
    })

    it('are postponed unless they changed meanwhile', async () => {
      const execution = executionRow({ dueAt: EARLY + 1 })
      const sandbox = sandboxRow({ dueAt: EARLY + 1 })
      await table().executions.create(execution)
      await table().sandboxes.create(sandbox)
      const found = await table().due(EARLY + 999, 100)
      await table().executions.postpone(execution.tenant, execution.id, EARLY + 2)
      for (const row of found) await table().postpone(row, EARLY + 5)
      expect(await dueNow()).toEqual([
        { kind: 'execution', id: execution.id, dueAt: EARLY + 2 },
        { kind: 'sandbox', id: sandbox.id, dueAt: EARLY + 5 },
      ])
      await table().executions.remove(execution.tenant, execution.id)
      await table().sandboxes.remove(sandbox.id)
    })

    it('are found in every shard', async () => {
      const rows = Array.from({ length: 60 }, (_, index) => executionRow({ dueAt: EARLY + index }))
      await Promise.all(rows.map((row) => table().executions.create(row)))
      expect((await dueNow(1000)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
      await Promise.all(rows.map((row) => table().executions.remove(row.tenant, row.id)))
      expect(await dueNow()).toEqual([])
    })
  })
}
