import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventBatch, EventOwner } from '../../../services/model/events.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, executionRow } from '../../support/rows.ts'

const newOwner = (): EventOwner => ({ kind: 'execution', tenant: newId('tenant'), id: newId('execution') })
const event = (seq: number, text = `line ${seq}\n`): ExecutionEvent => ({ seq, at: T0 + seq, type: 'stdout', cell: 0, text })
const batch = (firstSeq: number, count: number, text?: string): EventBatch<ExecutionEvent> => ({
  firstSeq,
  events: Array.from({ length: count }, (_, index) => event(firstSeq + index, text)),
  fence: 1,
  sourceSeq: firstSeq,
})
const numbers = (events: readonly { readonly seq: number }[]): number[] => events.map(({ seq }) => seq)
const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)

export function eventStoreContract(table: () => Table): void {
  const store = () => table().events

  describe('events', () => {
    it('are returned in order from any position', async () => {
      const owner = newOwner()
      for (const [first, count] of [
        [0, 3],
        [3, 1],
        [4, 4],
      ] as const)
        expect(await store().append(owner, batch(first, count))).toBe(true)
      expect(await store().read(owner, -1, 100)).toEqual(range(0, 8).map((seq) => event(seq)))
      for (const after of range(-1, 9)) expect(numbers(await store().read(owner, after, 100))).toEqual(range(after + 1, 8))
    })

    it('are returned from the middle of a batch of another process', async () => {
      const owner = newOwner()
      await store().append(owner, batch(0, 5))
      expect(numbers(await store().read(owner, 1, 100))).toEqual([2, 3, 4])
      expect(numbers(await store().read(owner, 4, 100))).toEqual([])
      await store().append(owner, batch(5, 2))
      expect(numbers(await store().read(owner, 4, 100))).toEqual([5, 6])
      expect(numbers(await store().read(owner, 3, 100))).toEqual([4, 5, 6])
    })

    it('are empty for an owner without any', async () => {
      expect(await store().read(newOwner(), -1, 10)).toEqual([])
      expect(await store().read(newOwner(), 7, 10)).toEqual([])
      expect(await store().last(newOwner())).toBeNull()
    })

    it('are refused when they are not as the log of an execution has them', async () => {
      const owner = newOwner()
      const unknown = { seq: 0, at: T0, type: 'stdout', cell: -1, text: 'x' } as ExecutionEvent
      await store().append(owner, { ...batch(0, 1), events: [unknown] })
      await expect(store().read(owner, -1, 10)).rejects.toThrow(/cell/)
      await expect(store().last(owner)).rejects.toThrow(/cell/)
    })

    it('are removed up to a number, except the newest batch', async () => {
      const owner = newOwner()
      for (const first of [0, 3, 6]) await store().append(owner, batch(first, 3))
      expect((await store().first(owner))?.firstSeq).toBe(0)
      await store().removeBefore(owner, 2)
      expect((await store().first(owner))?.firstSeq).toBe(0)
      await store().removeBefore(owner, 4)
      expect((await store().first(owner))?.firstSeq).toBe(3)
      await store().removeBefore(owner, 100)
      expect(numbers(await store().read(owner, -1, 100))).toEqual([6, 7, 8])
      expect((await store().last(owner))?.firstSeq).toBe(6)
    })

    it('accept one of two batches with the same first number', async () => {
      const owner = newOwner()
      const answers = await Promise.all(
        range(0, 10).map((index) => store().append(owner, { ...batch(0, 2, `writer ${index}`), fence: index })),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await store().last(owner)).toMatchObject({ fence: answers.indexOf(true) })
    })

    it('keep the fencing token and source number of the last batch', async () => {
      const owner = newOwner()
      await store().append(owner, batch(0, 2))
      const last = { ...batch(2, 1), fence: 4, sourceSeq: null }
      await store().append(owner, last)
      expect(await store().last(owner)).toMatchObject(last)
    })

    it('are the same when a batch is too large for the row', async () => {
      const owner = newOwner()
      const big = batch(2, 3, 'ü'.repeat(100_000))
      await store().append(owner, batch(0, 2))
      await store().append(owner, big)
      await store().append(owner, batch(5, 1))
      expect(await store().append(owner, big)).toBe(false)
      expect(await store().read(owner, 1, 100)).toEqual([...big.events, event(5)])
      expect(await store().read(owner, 2, 100)).toEqual([...big.events.slice(1), event(5)])
    })

    it('are limited to whole batches and at least one', async () => {
      const owner = newOwner()
      for (const first of [0, 4, 8]) await store().append(owner, batch(first, 4))
      expect(numbers(await store().read(owner, -1, 9))).toEqual(range(0, 8))
      expect(numbers(await store().read(owner, -1, 1))).toEqual(range(0, 4))
      expect(numbers(await store().read(owner, 1, 3))).toEqual([2, 3])
    })

    it('are read across several database pages', async () => {
      const owner = newOwner()
      for (const first of range(0, 90)) await store().append(owner, batch(first, 1, 'x'.repeat(15_000)))
      expect(numbers(await store().read(owner, -1, 1000))).toEqual(range(0, 90))
    })

    it('of another owner, kind or tenant are not returned', async () => {
      const owner = newOwner()
      await store().append(owner, batch(0, 1))
      expect(await store().read({ ...owner, kind: 'response' }, -1, 10)).toEqual([])
      expect(await store().read({ ...owner, tenant: newId('tenant') }, -1, 10)).toEqual([])
    })

    it('are removed together without the row of their owner', async () => {
      const row = executionRow()
      const owner: EventOwner = { kind: 'execution', tenant: row.tenant, id: row.id }
      await table().executions.create(row)
      for (const first of range(0, 30)) await store().append(owner, batch(first, 1, first === 3 ? 'z'.repeat(20_000) : 'x'))
      await store().removeAll(owner)
      expect(await store().read(owner, -1, 100)).toEqual([])
      expect(await store().last(owner)).toBeNull()
      expect(await table().executions.get(row.tenant, row.id)).toEqual(row)
    })

    it('are returned once each for reads of any size from any position', async () => {
      const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(sizes, fc.integer({ min: -1, max: 12 }), fc.integer({ min: 1, max: 6 }), async (counts, start, limit) => {
          const owner = newOwner()
          let total = 0
          for (const count of counts) {
            await store().append(owner, batch(total, count))
            total += count
          }
          const seen: number[] = []
          for (let after = start; ; after = seen.at(-1) ?? after) {
            const page = numbers(await store().read(owner, after, limit))
            if (page.length === 0) break
            seen.push(...page)
          }
          expect(seen).toEqual(range(start + 1, total))
        }),
        { numRuns: 40 },
      )
    })
  })
}
