import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { collectSse } from '../../support/read-sse.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
let id: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'cancel' })).id
})
afterAll(() => api.stop())
beforeEach(async () => {
  id = ((await (await api.post(`/v1/containers/${containerId}/executions?wait=0`, { code: 'x' })).json()) as { id: string }).id
})

const cancel = async (): Promise<Record<string, unknown>> => {
  const answer = await api.fetch(`/v1/executions/${id}/cancel`, { method: 'POST' })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, unknown>
}

it('ends an execution without a worker at once, and once', async () => {
  const waiting = api.fetch(`/v1/executions/${id}?wait=30`)
  const first = await cancel()
  expect(first).toMatchObject({ id, status: 'cancelled', reason: 'caller', outputs: [], stdout: '', usage: { run_ms: 0 } })
  expect(await (await waiting).json()).toEqual(first)
  expect(await cancel()).toEqual(first)
  const frames = await collectSse(await api.fetch(`/v1/executions/${id}/events`))
  expect(frames.map((frame) => [frame.id, frame.event])).toEqual([
    ['0', 'status'],
    ['1', 'lost'],
    ['2', 'done'],
  ])
})

it('closes the event log against a worker that lost its lease, and reports the end', async () => {
  const { tenant } = api.owner
  const now = Date.now()
  const lease = { owner: 'wrk_a', now: now - 2 * LEASE_MS, expiresAt: now - LEASE_MS }
  const taken = await api.table.executions.acquireLease({ tenant, id }, lease, { status: 'starting' })
  if (taken.kind !== 'acquired') throw new Error(taken.kind)
  expect(await cancel()).toMatchObject({ status: 'cancelled', lost: [{ what: 'outputs', reason: 'It was cancelled before it started.' }] })
  const late = { seq: 1, at: now, type: 'status', status: 'running' } as const
  const batch = { firstSeq: 1, events: [late], fence: taken.row.fence, sourceSeq: null }
  expect(await api.table.events.append({ kind: 'execution', tenant, id }, batch)).toBe(false)
  expect(api.events.filter((event) => event.event === 'execution' && event['execution'] === id)).toMatchObject([
    { outcome: 'cancelled', reason: 'caller', fence: taken.row.fence + 1 },
  ])
})

it('removes the execution from the queue of its container', async () => {
  const { tenant } = api.owner
  await cancel()
  expect((await api.table.containers.get(tenant, containerId))?.queue).not.toContain(id)
})

it('leaves a leased execution to its worker', async () => {
  const now = Date.now()
  await api.table.executions.acquireLease(
    { tenant: api.owner.tenant, id },
    { owner: 'wrk_a', now, expiresAt: now + LEASE_MS },
    { status: 'starting' },
  )
  expect(await cancel()).toMatchObject({ status: 'starting', reason: null })
  expect((await api.table.executions.get(api.owner.tenant, id))?.cancelRequestedAt).toBeGreaterThan(0)
})

it('leaves an execution that reached a sandbox to the next worker', async () => {
  const now = Date.now()
  const acquired = await api.table.executions.acquireLease(
    { tenant: api.owner.tenant, id },
    { owner: 'wrk_a', now, expiresAt: now + LEASE_MS },
    { status: 'running', sandboxId: 'sbx_a' },
  )
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  await api.table.executions.commit({ tenant: api.owner.tenant, id, fence: acquired.row.fence }, {}, { release: true })
  expect(await cancel()).toMatchObject({ status: 'running' })
  expect((await api.table.executions.get(api.owner.tenant, id))?.lease).toBeNull()
})

it('returns an ended execution unchanged', async () => {
  await finishExecution(api, api.owner.tenant, id)
  expect(await cancel()).toMatchObject({ status: 'succeeded', reason: null })
})

it('returns 404 for ids of other tenants', async () => {
  expect((await api.fetch(`/v1/executions/${id}/cancel`, { method: 'POST', key: api.otherTenant })).status).toBe(404)
})
