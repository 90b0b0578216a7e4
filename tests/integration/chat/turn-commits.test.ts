import { expect, it } from 'vitest'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { endTurn } from '../../../services/workers/turn/end-turn.ts'
import { renewTurn, saveTurn } from '../../../services/workers/turn/turn-store.ts'
import { Turn } from '../../../services/workers/turn/turn.ts'
import type { ResponseEvent } from '../../../services/model/events.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import { newId } from '../../../services/model/ids.ts'
import { loadResponse } from '../../../services/operations/turns/response-blobs.ts'
import type { ResponseItem } from '../../../services/model/responses/items/item-types.ts'
import { TERMINAL_EVENTS, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { LeaseLostError } from '../../../services/jobs/lease.ts'
import { crashingWorker, WorkerCrashedError } from '../../support/crashing-worker.ts'
import { conversationRow, responseRequest, responseRow } from '../../support/rows.ts'
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
  const acquired = await fixture.storage.table.responses.acquireLease(row, lease, { status: 'in_progress' })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  return new Turn({ ...fixture.deps, objects }, acquired.row, { logged: null, execution: null, onBroken: () => undefined })
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
  const renewed = renewTurn(fixture.deps, turn, { snapshot: turn.snapshot(), extendTo: fixture.now + 40_000 })
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
  expect(await renewTurn(fixture.deps, turn, { snapshot: old, extendTo: fixture.now + 50_000 })).toBe(true)
  expect(await read()).toMatchObject({ items: [], lease: { expiresAt: fixture.now + 50_000 } })
  go()
  await saved
  expect(await renewTurn(fixture.deps, turn, { snapshot: old, extendTo: fixture.now + 60_000 })).toBe(true)
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

/** Around the sizes at which events wait for the row, and at which one write of the log is full. */
it.each([1_000, 60_000, 250_000])('has the end of a turn in its row only, after %i bytes of late events', async (bytes) => {
  const { table, objects } = fixture.storage
  const commitEnd = async (deps: Pick<TurnDeps, 'table' | 'queue' | 'objects'>) => {
    const row = responseRow({ tenant: newId('tenant'), createdAt: fixture.now, request: responseRequest({ stream: true }) })
    await table.responses.create(row)
    const turn = await takeTurn(row, 'worker', fixture.now, objects)
    for (let sent = 0; sent < bytes; sent += 50_000)
      turn.emit({ type: 'x', data: { item_id: String(sent), text: 'x'.repeat(Math.min(50_000, bytes)) } }, 'paced')
    const end = { kind: 'end', status: 'completed', incompleteReason: null } as const
    const cause = await endTurn({ ...fixture.deps, ...deps } as unknown as TurnDeps, turn, end).catch((error: unknown) => error)
    const logged = await table.events.read<ResponseEvent>({ kind: 'response', tenant: row.tenant, id: row.id }, -1, 1_000)
    return { cause, types: logged.map(({ type }) => type), ended: await table.responses.get(row.tenant, row.id) }
  }
  const { cause, types, ended } = await commitEnd(fixture.storage)
  expect(cause).toBeUndefined()
  expect(types).not.toContain('response.completed')
  expect(ended).toMatchObject({ status: 'completed', nextSeq: types.length + (ended?.tailEvents.length ?? 0) })
  expect(ended?.tailEvents.at(-1)).toMatchObject({ type: 'response.completed', seq: (ended?.nextSeq ?? 0) - 1 })

  const crashed = await commitEnd(crashingWorker(fixture.storage, 'responses.commit', 'before').deps)
  expect(crashed.cause).toBeInstanceOf(WorkerCrashedError)
  expect(crashed.types).not.toContain('response.completed')
  expect(crashed.ended).toMatchObject({ status: 'in_progress', completedAt: null, tailEvents: [] })
})

it.each(TERMINAL_EVENTS)('refuses %s as an event of a running turn', async (type) => {
  const { turn } = await startTurn()
  expect(() => turn.emit({ type, data: {} }, 'paced')).toThrow('with the end of the row only')
})
