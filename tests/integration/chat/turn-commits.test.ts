import { expect, it } from 'vitest'
import { renewTurn, saveTurn } from '../../../services/chat/turn/turn-store.ts'
import { Turn } from '../../../services/chat/turn/turn.ts'
import type { ObjectStore } from '../../../services/core/ports/object-store.ts'
import { newId } from '../../../services/core/ids.ts'
import { loadResponse } from '../../../services/core/responses/response-blobs.ts'
import type { ResponseItem } from '../../../services/core/responses/items/item-types.ts'
import { responseRow } from '../../support/rows.ts'
import { ReconcileFixture } from '../orchestrator/reconcile-fixture.ts'

const fixture = new ReconcileFixture()
/** Above the bytes that a row holds, so that items are stored as an object first. */
const LONG = 'x'.repeat(200_000)

const message = (id: string, text: string): ResponseItem => ({
  type: 'message',
  id,
  status: 'completed',
  text,
  citations: [],
  phase: null,
  isRefusal: false,
})

/** A turn with the lease of its row, whose first write of an object waits for `go`. */
async function startTurn() {
  const { table, objects } = fixture.storage
  const row = responseRow({ tenant: newId('tenant'), createdAt: fixture.now })
  await table.responses.create(row)
  const lease = { owner: 'worker', now: fixture.now, expiresAt: fixture.now + 30_000 }
  const taken = await table.responses.acquireLease(row.tenant, row.id, lease, { status: 'in_progress' })
  if (taken.kind !== 'acquired') throw new Error(taken.kind)
  const [gate, started] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  let puts = 0
  const slow: ObjectStore = {
    ...objects,
    put: async (...given) => {
      started.resolve(undefined)
      if (puts++ === 0) await gate.promise
      return objects.put(...given)
    },
  }
  const turn = new Turn({ ...fixture.deps, objects: slow }, taken.row, null, null, () => undefined)
  return { turn, started: started.promise, go: () => gate.resolve(undefined), read: () => table.responses.get(row.tenant, row.id) }
}

it('keeps the newer state when a renewal of the lease is still storing an older one', async () => {
  const { turn, started, go, read } = await startTurn()
  turn.apply({ items: [[0, message('msg_1', LONG)]] })
  const renewed = renewTurn(fixture.deps, turn, turn.snapshot(), fixture.now + 40_000)
  await started
  turn.apply({ items: [[1, message('msg_2', 'short')]] })
  const saved = saveTurn(fixture.deps, turn)
  go()
  expect(await renewed).toBe(true)
  await saved
  const row = await read()
  expect(row?.lease?.expiresAt).toBe(fixture.now + 40_000)
  expect((await loadResponse(fixture.storage.objects, row ?? turn.row)).items.map(({ id }) => id)).toEqual(['msg_1', 'msg_2'])
})

it('extends the lease while a newer state is being stored, and writes nothing older', async () => {
  const { turn, started, go, read } = await startTurn()
  const old = turn.snapshot()
  turn.apply({ items: [[0, message('msg_1', LONG)]] })
  const saved = saveTurn(fixture.deps, turn)
  await started
  expect(await renewTurn(fixture.deps, turn, old, fixture.now + 50_000)).toBe(true)
  expect(await read()).toMatchObject({ items: [], lease: { expiresAt: fixture.now + 50_000 } })
  go()
  await saved
  expect(await renewTurn(fixture.deps, turn, old, fixture.now + 60_000)).toBe(true)
  expect((await read())?.itemsRef).not.toBeNull()
})
