import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LeasedRow } from '../../../services/model/lease.ts'
import { newId } from '../../../services/model/ids.ts'
import { fannedOut, newDelivery, newFanOut } from '../../../services/model/webhooks/webhook.ts'
import type { LeasedStore, Patch } from '../../../services/ports/leased-store.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, executionRow, responseRow } from '../../support/rows.ts'

const LEASE_MS = 30_000
const leaseOf = (owner: string, now: number) => ({ owner, now, expiresAt: now + LEASE_MS })

export function leasedStoreContract(table: () => Table): void {
  leasedRows('executions', () => table().executions, executionRow, { status: 'running' }, { status: 'failed', reason: 'error' })
  leasedRows('responses', () => table().responses, responseRow, { status: 'in_progress' }, { status: 'completed' })

  describe('deliveries: their own', () => {
    const newEvent = () => {
      const id = newId('response')
      return { tenant: newId('tenant'), subject: null, type: 'response.completed', objectId: id, at: T0, data: { id } } as const
    }
    const times = { now: T0, dueAt: T0 + LEASE_MS, traceparent: null }
    const PAGE = { after: null, limit: 3, order: 'asc' } as const

    it('are listed by endpoint, without the row that stands for those of an event', async () => {
      const { deliveries } = table()
      const event = newEvent()
      const row = newFanOut(event, ['a', 'b'], times)
      expect(await deliveries.create(row)).toBe(true)
      expect(await deliveries.get(row.tenant, row.id)).toEqual(row)
      for (const id of ['a', row.endpointId])
        expect(await deliveries.listByEndpoint(row.tenant, id, PAGE)).toEqual({ rows: [], hasMore: false })
      const [first, second] = fannedOut(row, times)
      expect(first).toEqual(newDelivery(event, 'a', times))
      for (const delivery of [first, second]) if (delivery !== undefined) expect(await deliveries.create(delivery)).toBe(true)
      expect(await deliveries.listByEndpoint(row.tenant, 'b', PAGE)).toEqual({ rows: [second], hasMore: false })
      expect(await deliveries.create(newDelivery(event, 'a', times))).toBe(false)
    })
  })

  describe('executions: their own', () => {
    it('keep a result of any shape and depth', async () => {
      let nested: unknown = 'end'
      for (let depth = 0; depth < 200; depth++) nested = { deeper: [nested, null, 1.5, ''] }
      const row = executionRow({
        source: { kind: 'notebook', cells: [{ index: 0, code: '' }], notebook: { objectKey: 'k', bytes: 1 } },
        lostBefore: [{ what: 'variables', reason: 'sandbox_lost' }],
        tailEvents: [
          {
            seq: 0,
            at: T0,
            type: 'output',
            cell: 0,
            output: { output_type: 'display_data', data: { 'application/json': nested }, metadata: {} },
          },
        ],
      })
      await table().executions.create(row)
      expect(await table().executions.get(row.tenant, row.id)).toEqual(row)
    })

    it('are listed by container, page by page, in both orders', async () => {
      const { tenant, containerId } = executionRow()
      const rows = Array.from({ length: 7 }, (_, index) => executionRow({ tenant, containerId, createdAt: T0 + index }))
      for (const row of [...rows, executionRow({ tenant }), executionRow({ containerId })]) await table().executions.create(row)
      for (const [order, expected] of [
        ['asc', rows],
        ['desc', rows.toReversed()],
      ] as const) {
        const first = await table().executions.listByContainer(tenant, containerId, { after: null, limit: 3, order })
        expect(first).toEqual({ rows: expected.slice(0, 3), hasMore: true })
        const second = await table().executions.listByContainer(tenant, containerId, { after: expected[2]?.id ?? '', limit: 3, order })
        expect(second).toEqual({ rows: expected.slice(3, 6), hasMore: true })
        const third = await table().executions.listByContainer(tenant, containerId, { after: expected[5]?.id ?? '', limit: 3, order })
        expect(third).toEqual({ rows: expected.slice(6), hasMore: false })
      }
    })

    it('give an empty page after an unknown id, or one of another container', async () => {
      const row = executionRow()
      const unrelated = executionRow({ tenant: row.tenant })
      await table().executions.create(row)
      await table().executions.create(unrelated)
      for (const after of ['exec_nothing', unrelated.id]) {
        expect(await table().executions.listByContainer(row.tenant, row.containerId, { after, limit: 3, order: 'asc' })).toEqual({
          rows: [],
          hasMore: false,
        })
      }
    })
  })
}

function leasedRows<Row extends LeasedRow>(
  name: string,
  store: () => LeasedStore<Row>,
  newRow: () => Row,
  working: Patch<Row>,
  ended: Patch<Row>,
): void {
  const created = async (): Promise<Row> => {
    const row = newRow()
    expect(await store().create(row)).toBe(true)
    return row
  }

  describe(name, () => {
    it('are returned as written', async () => {
      const row = await created()
      expect(await store().get(row.tenant, row.id)).toEqual(row)
    })

    it('are created once', async () => {
      const row = await created()
      expect(await store().create({ ...row, ...working })).toBe(false)
      expect(await store().get(row.tenant, row.id)).toEqual(row)
    })

    it.each(['', 'exec_none', '../..', 'a#row', 'x'.repeat(5000), '☃'])('find nothing under the id %j', async (id) => {
      expect(await store().get('t', id)).toBeNull()
      expect(await store().acquireLease({ tenant: 't', id }, leaseOf('w', T0))).toEqual({ kind: 'missing' })
      expect(await store().commit({ tenant: 't', id, fence: 0 }, working)).toBeNull()
      expect(await store().requestCancel('t', id, T0)).toBeNull()
      await expect(store().postpone('t', id, T0)).resolves.toBeUndefined()
      await expect(store().remove('t', id)).resolves.toBeUndefined()
      expect(await store().get('t', id)).toBeNull()
    })

    it('are not found by another tenant', async () => {
      const row = await created()
      const other = newId('tenant')
      expect(await store().get(other, row.id)).toBeNull()
      expect(await store().acquireLease({ tenant: other, id: row.id }, leaseOf('w', T0))).toEqual({ kind: 'missing' })
      await store().remove(other, row.id)
      expect(await store().get(row.tenant, row.id)).toEqual(row)
    })

    it('grant the lease, the next fencing token and the patch in one write', async () => {
      const row = await created()
      const acquired = await store().acquireLease(row, leaseOf('w1', T0), working)
      const expected = { ...row, ...working, fence: 1, lease: { owner: 'w1', expiresAt: T0 + LEASE_MS } }
      expect(acquired).toEqual({ kind: 'acquired', row: expected })
      expect(await store().get(row.tenant, row.id)).toEqual(expected)
    })

    it.each([
      ['keep an earlier due time', 5_000, 5_000],
      ['are due at the end of a lease', LEASE_MS + 1, LEASE_MS],
    ])('%s when the lease is acquired', async (_, dueIn, expected) => {
      const row = await created()
      await store().postpone(row.tenant, row.id, T0 + dueIn)
      const acquired = await store().acquireLease(row, leaseOf('w1', T0))
      expect(acquired).toMatchObject({ kind: 'acquired', row: { fence: 1, dueAt: T0 + expected } })
      expect(await store().get(row.tenant, row.id)).toMatchObject({ dueAt: T0 + expected })
    })

    it('are found by a poll as by a read, once it has caught up', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      await expect.poll(() => store().poll(row.tenant, row.id)).toEqual(await store().get(row.tenant, row.id))
      expect(await store().poll(row.tenant, newId('execution'))).toBeNull()
    })

    it('refuse a second lease while the first is live, and change nothing', async () => {
      const row = await created()
      const held = await store().acquireLease(row, leaseOf('w1', T0))
      const refused = await store().acquireLease(row, leaseOf('w2', T0 + LEASE_MS - 1), working)
      expect(refused).toEqual({ ...held, kind: 'busy' })
    })

    it('grant a new lease from the moment the old one ends', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      expect(await store().acquireLease(row, leaseOf('w2', T0 + LEASE_MS))).toMatchObject({
        kind: 'acquired',
        row: { fence: 2, lease: { owner: 'w2' } },
      })
    })

    it('refuse a second lease to the same worker, which may get a message twice', async () => {
      const row = await created()
      const held = await store().acquireLease(row, leaseOf('w1', T0))
      expect(await store().acquireLease(row, leaseOf('w1', T0 + 1))).toEqual({ ...held, kind: 'busy' })
    })

    it('report a change since the read and change nothing', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const free = await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, {}, { release: true })
      expect(await store().acquireLease(row, { ...leaseOf('w2', T0), seen: { fence: 0 } }, working)).toEqual({
        kind: 'moved',
        row: free,
      })
      expect(await store().acquireLease(row, { ...leaseOf('w2', T0), seen: { fence: 1 } })).toMatchObject({
        kind: 'acquired',
        row: { fence: 2 },
      })
      expect(await store().acquireLease(row, { ...leaseOf('w3', T0), seen: { fence: 1 } })).toMatchObject({ kind: 'busy' })
    })

    it('refuse a commit with an old fencing token, and change nothing', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const second = await store().acquireLease(row, leaseOf('w2', T0 + LEASE_MS))
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, ended)).toBeNull()
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 3 }, ended)).toBeNull()
      expect({ kind: 'acquired', row: await store().get(row.tenant, row.id) }).toEqual(second)
    })

    it('end once, without lease and due time, and accept no further change', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const end = await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, ended, { extendTo: T0 + 99, dueAt: T0 + 99 })
      expect(end).toEqual({ ...row, ...ended, fence: 1, lease: null, dueAt: null })
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, working)).toBeNull()
      expect(await store().acquireLease(row, leaseOf('w1', T0))).toEqual({ kind: 'ended', row: end })
      expect(await store().requestCancel(row.tenant, row.id, T0)).toEqual(end)
      await store().postpone(row.tenant, row.id, T0 + 5)
      expect(await store().get(row.tenant, row.id)).toEqual(end)
    })

    it('are due again after their end for their removal', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, ended, { removeAt: T0 + 99 })).toMatchObject({
        lease: null,
        dueAt: T0 + 99,
      })
      await store().postpone(row.tenant, row.id, T0 + 5)
      expect(await store().get(row.tenant, row.id)).toMatchObject({ dueAt: T0 + 99 })
    })

    it('extend the lease and the due time', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const extended = await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, {}, { extendTo: T0 + 99_000 })
      expect(extended).toMatchObject({ lease: { owner: 'w1', expiresAt: T0 + 99_000 }, dueAt: T0 + 99_000 })
    })

    it('release the lease with a new due time', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const released = await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, working, { release: true, dueAt: T0 + 3 })
      expect(released).toMatchObject({ lease: null, dueAt: T0 + 3, fence: 1 })
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, {}, { extendTo: T0 + 99_000 })).toBeNull()
      expect(await store().acquireLease(row, leaseOf('w2', T0 + 1))).toMatchObject({ kind: 'acquired', row: { fence: 2 } })
    })

    it('keep the due time in a plain commit, and accept an empty commit', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, working)).toMatchObject({ dueAt: row.dueAt })
      expect(await store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, {})).toMatchObject({ fence: 1, dueAt: row.dueAt })
    })

    it('keep the first cancel request', async () => {
      const row = await created()
      expect(await store().requestCancel(row.tenant, row.id, T0 + 1)).toMatchObject({ cancelRequestedAt: T0 + 1 })
      expect(await store().requestCancel(row.tenant, row.id, T0 + 2)).toMatchObject({ cancelRequestedAt: T0 + 1 })
    })

    it('can be postponed and removed', async () => {
      const row = await created()
      await store().postpone(row.tenant, row.id, T0 + 77)
      expect(await store().get(row.tenant, row.id)).toEqual({ ...row, dueAt: T0 + 77 })
      await store().remove(row.tenant, row.id)
      expect(await store().get(row.tenant, row.id)).toBeNull()
    })

    it('grant exactly one of many concurrent leases', async () => {
      const row = await created()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => store().acquireLease(row, leaseOf(`w${index}`, T0))))
      expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['acquired', ...Array<string>(19).fill('busy')])
      expect(await store().get(row.tenant, row.id)).toMatchObject({ fence: 1 })
    })

    it('end by exactly one of many concurrent commits', async () => {
      const row = await created()
      await store().acquireLease(row, leaseOf('w1', T0))
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => store().commit({ tenant: row.tenant, id: row.id, fence: 1 }, ended)),
      )
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
    })

    it('never accept commits of two workers with one fencing token, in any order of calls', async () => {
      const worker = fc.constantFrom('a', 'b', 'c')
      const step = fc.record({
        worker,
        verb: fc.constantFrom('take', 'commit', 'release', 'extend'),
        wait: fc.constantFrom(0, 10_000, LEASE_MS),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const row = await created()
          const fences = new Map<string, number>()
          let holder: { expiresAt: number } | null = null
          let [now, fence, takes] = [T0, 0, 0]
          for (const { worker: who, verb, wait } of steps) {
            now += wait
            if (verb === 'take') {
              const isFree = holder === null || holder.expiresAt <= now
              const answer = await store().acquireLease(row, leaseOf(`${who}/${(takes += 1)}`, now))
              expect(answer.kind).toBe(isFree ? 'acquired' : 'busy')
              if (isFree) {
                fence += 1
                fences.set(who, fence)
                holder = { expiresAt: now + LEASE_MS }
              }
              continue
            }
            const mine = fences.get(who) ?? -1
            const options = verb === 'release' ? { release: true } : verb === 'extend' ? { extendTo: now + LEASE_MS } : {}
            const isAllowed: boolean = mine === fence && (verb !== 'extend' || holder !== null)
            const answer = await store().commit({ tenant: row.tenant, id: row.id, fence: mine }, working, options)
            expect(answer !== null).toBe(isAllowed)
            if (isAllowed && verb === 'release') holder = null
            if (isAllowed && verb === 'extend') holder = { expiresAt: now + LEASE_MS }
          }
          expect(await store().get(row.tenant, row.id)).toMatchObject({ fence })
        }),
        { numRuns: 40 },
      )
    })
  })
}
