import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, containerRow, conversationRow, executionRow, responseRow } from '../../support/rows.ts'

/** What a meter receives about rows: bytes that were admitted, and the sum of what was added and given back. */
function meterOf(table: Table) {
  const seen = { admitted: 0, sum: 0, containers: 0 }
  const metered = table.metered({
    objects: {} as ObjectStore,
    rows: {
      admit: async (_, { bytes, isContainer }) => {
        seen.admitted += bytes
        seen.containers += isContainer ? 1 : 0
      },
      add: async (_, bytes) => void (seen.sum += bytes),
    },
  })
  return { metered, seen }
}

export function meteredRowsContract(table: () => Table): void {
  describe('metered rows', () => {
    it('give back the bytes of a removed row', async () => {
      const { metered, seen } = meterOf(table())
      const container = containerRow()
      await metered.containers.create(container)
      expect(seen).toMatchObject({ containers: 1, admitted: seen.sum })
      expect(seen.sum).toBeGreaterThan(100)
      await metered.containers.remove(container.tenant, container.id)
      expect(seen.sum).toBe(0)
    })

    it('are counted once when they exist already', async () => {
      const { metered, seen } = meterOf(table())
      const container = containerRow()
      await metered.containers.create(container)
      const { sum } = seen
      await metered.containers.create(container)
      expect(seen.sum).toBe(sum)
    })

    it('are counted again when they grow', async () => {
      const { metered, seen } = meterOf(table())
      const row = conversationRow()
      await metered.conversations.create(row)
      const { sum } = seen
      const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key${index}`, 'x'.repeat(500)]))
      await metered.conversations.update(row.tenant, row.id, { change: { metadata }, now: T0 })
      expect(seen.sum - sum).toBeGreaterThan(8_000)
      expect(seen.admitted).toBeGreaterThan(sum + 8_000)
      await metered.conversations.remove(row.tenant, row.id)
      expect(seen.sum).toBe(0)
    })

    it('that end are counted with what the end writes, also where it replaces something', async () => {
      const { metered, seen } = meterOf(table())
      const metadata = { note: 'y'.repeat(9_000) }
      const row = executionRow({ metadata })
      await metered.executions.create(row)
      const { sum } = seen
      const text = 'x'.repeat(20_000)
      const tailEvents = [{ seq: 1, at: T0, type: 'stdout', cell: 0, text }] as const
      const end = { status: 'succeeded', metadata, tailEvents } as const
      expect(await metered.executions.commit({ tenant: row.tenant, id: row.id, fence: 0 }, end)).toMatchObject(end)
      expect(seen.sum - sum).toBeGreaterThan(20_000)
      expect(seen.sum - sum).toBeLessThan(21_000)
      await metered.executions.remove(row.tenant, row.id)
      expect(seen.sum).toBe(0)
    })

    it('give back the events and items of what is removed', async () => {
      const { metered, seen } = meterOf(table())
      const owner = { kind: 'input', tenant: newId('tenant'), id: newId('command') } as const
      for (const seq of [0, 1, 2])
        await metered.events.append(owner, { firstSeq: seq, events: [{ seq, at: 0, total: 0, type: 'close' }], fence: 0, sourceSeq: null })
      expect(seen.admitted).toBe(seen.sum)
      await metered.events.removeAll(owner)
      expect(seen.sum).toBe(0)
    })

    it('of work are counted and not refused, so that a full account can cancel', async () => {
      const { metered, seen } = meterOf(table())
      const row = executionRow()
      await metered.executions.create(row)
      await metered.events.append(
        { kind: 'execution', tenant: row.tenant, id: row.id },
        { firstSeq: 1, events: [{ seq: 1, at: 0, type: 'stdout', cell: 0, text: 'x' }], fence: 0, sourceSeq: 1 },
      )
      expect(seen.admitted).toBe(0)
      expect(seen.sum).toBeGreaterThan(200)
      await metered.responses.create(responseRow())
      expect(seen.admitted).toBeGreaterThan(100)
    })
  })
}
