import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { topicOf } from '../../../services/model/events.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { collectSse, readSse } from '../../support/read-sse.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
let id: string
beforeAll(async () => {
  api = await startApi({ config: { heartbeatMs: 50 } })
  containerId = (await api.openai().containers.create({ name: 'events' })).id
})
afterAll(() => api.stop())
beforeEach(async () => {
  id = ((await (await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' })).json()) as { id: string }).id
})

const follow = (query = '', headers: Record<string, string> = {}): Promise<Response> =>
  api.fetch(`/v1/executions/${id}/events${query}`, { headers })
const stdout = (seq: number, text: string): ExecutionEvent => ({ seq, at: 1_700_000_000_000, type: 'stdout', cell: 0, text })
const logged: readonly ExecutionEvent[] = [
  { seq: 1, at: 1_700_000_000_000, type: 'status', status: 'running' },
  stdout(2, 'a'),
  stdout(3, 'b'),
]
const finish = (): Promise<void> => finishExecution(api, api.owner.tenant, id, { logged })

it('streams all events of an ended execution, numbered from 0, with done last', async () => {
  await finish()
  const answer = await follow()
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const frames = await collectSse(answer)
  expect(frames.map((frame) => [frame.id, frame.event])).toEqual([
    ['0', 'status'],
    ['1', 'status'],
    ['2', 'stdout'],
    ['3', 'stdout'],
    ['4', 'done'],
  ])
  expect(frames.map((frame) => JSON.parse(frame.data) as object)).toMatchObject([
    { seq: 0, status: 'queued' },
    { seq: 1, status: 'running' },
    { seq: 2, cell: 0, text: 'a', at: '2023-11-14T22:13:20.000Z' },
    { seq: 3, text: 'b' },
    { seq: 4, status: 'succeeded', reason: null },
  ])
})

it.for([
  ['?after=2', {}, ['3', '4']],
  ['', { 'last-event-id': '0' }, ['1', '2', '3', '4']],
  ['?after=3', { 'last-event-id': '0' }, ['4']],
  ['?after=4', {}, []],
  ['?after=999', {}, []],
  ['?after=-1', {}, ['0', '1', '2', '3', '4']],
] as const)('resumes with %s %j', async ([query, headers, ids]) => {
  await finish()
  expect((await collectSse(await follow(query, headers))).map((frame) => frame.id)).toEqual(ids)
})

it('streams events as they happen, with comments during silence', async () => {
  const frames = readSse(await follow())
  expect((await frames.next()).value).toMatchObject({ id: '0', event: 'status' })
  expect((await frames.next()).value).toMatchObject({ event: 'comment' })
  await finish()
  const rest = []
  for await (const frame of frames) if (frame.event !== 'comment') rest.push(frame.id)
  expect(rest).toEqual(['1', '2', '3', '4'])
})

it('streams the end of an execution whose worker crashed before it wrote the event', async () => {
  const now = Date.now()
  const acquired = await api.table.executions.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  await api.table.executions.commit(
    { tenant: api.owner.tenant, id, fence: acquired.row.fence },
    { status: 'failed', reason: 'dead_letter', endedAt: now },
  )
  const frames = await collectSse(await follow())
  expect(frames.map((frame) => [frame.id, frame.event])).toEqual([
    ['0', 'status'],
    ['1', 'done'],
  ])
  expect(JSON.parse(frames[1]?.data ?? '')).toMatchObject({ status: 'failed', reason: 'dead_letter' })
})

/** Appends to the log of a running execution, as a worker does that has not ended it. */
async function append(events: readonly ExecutionEvent[], fence: number): Promise<void> {
  const owner = { kind: 'execution', tenant: api.owner.tenant, id } as const
  await api.table.events.append(owner, { firstSeq: events[0]?.seq ?? 0, events, fence, sourceSeq: null })
  api.signals.notify(topicOf('execution', id))
}
const done = (seq: number): ExecutionEvent => ({ seq, at: 1_700_000_000_000, type: 'done', status: 'succeeded', reason: null })

it('streams the end of the row, not an end in the log of a worker that crashed before it ended the row', async () => {
  await append([...logged, done(4)], 0)
  const frames = readSse(await follow('?after=0'))
  for (const seq of ['1', '2', '3']) expect((await frames.next()).value).toMatchObject({ id: seq })
  expect((await frames.next()).value).toMatchObject({ event: 'comment' })
  const lost: ExecutionEvent = { seq: 5, at: 1_700_000_000_000, type: 'lost', what: 'outputs', reason: 'The sandbox was lost.' }
  await append([lost], 1)
  await finishExecution(api, api.owner.tenant, id, { doneSeq: 6, patch: { status: 'failed', reason: 'sandbox_lost' } })
  const rest = []
  for await (const frame of frames) if (frame.event !== 'comment') rest.push([frame.id, frame.event, JSON.parse(frame.data)])
  expect(rest).toMatchObject([
    ['5', 'lost', {}],
    ['6', 'done', { status: 'failed', reason: 'sandbox_lost' }],
  ])
})

it('streams an end in the log once when the row has ended the same way', async () => {
  await append([...logged, done(4)], 0)
  const now = Date.now()
  const acquired = await api.table.executions.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  await api.table.executions.commit({ tenant: api.owner.tenant, id, fence: acquired.row.fence }, { status: 'succeeded', endedAt: now })
  expect((await collectSse(await follow('?after=2'))).map((frame) => [frame.id, frame.event])).toEqual([
    ['3', 'stdout'],
    ['4', 'done'],
  ])
  expect(await collectSse(await follow('?after=4'))).toEqual([])
})

it('includes links to the files', async () => {
  const file = { id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt', path: 'a.txt', bytes: 1, sha256: 'aa', mime: 'text/plain' }
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/files/x`
  await api.objects.put(objectKey, Buffer.from('x'), { contentType: 'text/plain' })
  await api.table.files.put({
    ...file,
    v: 1,
    tenant: api.owner.tenant,
    containerId,
    source: 'assistant',
    createdAt: 1,
    objectKey,
    executionId: id,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: 1,
  })
  await finishExecution(api, api.owner.tenant, id, {
    logged: [{ seq: 1, at: 1, type: 'file', file: { ...file, isNew: true, modifiedFrom: null } }],
  })
  const frames = await collectSse(await follow('?after=0'))
  const fileEvent = JSON.parse(frames[0]?.data ?? '') as { file: { path: string; url: string } }
  expect(fileEvent.file.path).toBe('/mnt/data/a.txt')
  expect(await (await fetch(fileEvent.file.url)).text()).toBe('x')
})

it('stops its work when the reader disconnects', async () => {
  const stop = new AbortController()
  const answer = await api.fetch(`/v1/executions/${id}/events`, { signal: stop.signal })
  const frames = readSse(answer)
  await frames.next()
  stop.abort()
  await expect(frames.next()).rejects.toThrow('aborted')
  await expect
    .poll(() => api.events.at(-1), { timeout: 5_000 })
    .toMatchObject({ event: 'http.stream', outcome: 'left', tenant: api.owner.tenant })
})

it.for(['?after=x', '?after=-2', '?after=1&after=2'])('refuses %s', async (query) => {
  expect((await follow(query)).status).toBe(400)
})

it('refuses a Last-Event-ID that is not a number, and ids of other tenants', async () => {
  expect((await follow('', { 'last-event-id': 'abc' })).status).toBe(400)
  expect((await api.fetch(`/v1/executions/${id}/events`, { key: api.otherTenant })).status).toBe(404)
})
