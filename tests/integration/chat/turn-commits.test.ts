import { expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { endTurn } from '../../../services/workers/turn/end-turn.ts'
import { renewTurn, saveTurn } from '../../../services/workers/turn/turn-store.ts'
import { Turn } from '../../../services/workers/turn/turn.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import { newId } from '../../../services/model/ids.ts'
import { loadResponse } from '../../../services/operations/turns/response-blobs.ts'
import type { ResponseItem } from '../../../services/model/responses/items/item-types.ts'
import type { ResponseRecord } from '../../../services/model/responses/response.ts'
import { LeaseLostError } from '../../../services/jobs/lease.ts'
import { conversationRow, responseRow } from '../../support/rows.ts'
import { ReconcileFixture } from '../orchestrator/reconcile-fixture.ts'

const fixture = new ReconcileFixture()
/** Above the bytes that a row holds, so that items are stored as an object first. */
const LONG = 'x'.repeat(200_000)

const NO_USAGE = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 }

const message = (id: string, text: string): ResponseItem => ({
  type: 'message',
  id,
  status: 'completed',
  text,
  citations: [],
  phase: null,
  isRefusal: false,
})

/** A turn of a worker that takes the lease of the row at `now`, epoch ms. */
async function takeTurn(row: ResponseRecord, owner: string, now: number, objects: ObjectStore): Promise<Turn> {
  const lease = { owner, now, expiresAt: now + 30_000 }
  const acquired = await fixture.storage.table.responses.acquireLease(row.tenant, row.id, lease, { status: 'in_progress' })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  return new Turn({ ...fixture.deps, objects }, acquired.row, null, null, () => undefined)
}

/** A turn with the lease of its row, whose first write of an object waits for `go`. */
async function startTurn() {
  const { table, objects } = fixture.storage
  const row = responseRow({ tenant: newId('tenant'), createdAt: fixture.now })
  await table.responses.create(row)
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
  const turn = await takeTurn(row, 'worker', fixture.now, slow)
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

it('adds nothing to a conversation when another worker has taken the turn over', async () => {
  const { table, objects } = fixture.storage
  const conversation = conversationRow({ tenant: newId('tenant') })
  await table.conversations.create(conversation)
  const { tenant, id: conversationId } = conversation
  const row = responseRow({ tenant, conversationId, createdAt: fixture.now, usage: { ...NO_USAGE, outputTokens: 5 } })
  await table.responses.create(row)
  const take = async (owner: string, now: number) => {
    const turn = await takeTurn(row, owner, now, objects)
    turn.apply({ items: [[0, message('msg_1', owner)]] })
    return turn
  }
  const [paused, next] = [await take('paused', fixture.now), await take('next', fixture.now + 40_000)]
  const deps = fixture.deps as unknown as TurnDeps
  const end = { kind: 'end', status: 'completed', incompleteReason: null } as const
  await endTurn(deps, next, end)
  await expect(endTurn(deps, paused, end)).rejects.toThrow(LeaseLostError)
  const { rows } = await table.conversations.items(tenant, conversationId, { after: null, limit: 9, order: 'asc' })
  expect(rows.map(({ content }) => content.kind === 'output' && content.item.type === 'message' && content.item.text)).toContain('next')
  expect(JSON.stringify(rows)).not.toContain('paused')
})
