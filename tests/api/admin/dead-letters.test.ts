import { afterAll, beforeAll, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import type { NewExecution } from '../../../services/operations/executions/accept-execution.ts'
import { storeRequest } from '../../../services/operations/turns/response-blobs.ts'
import type { Execution } from '../../../services/model/executions/execution.ts'
import { newId } from '../../../services/model/ids.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { executionRow, responseRequest, responseRow } from '../../support/rows.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const TENANT = newId('tenant')
const LEASE = { owner: 'test', now: 0, expiresAt: 1 }
let api: TestApi
let admin: TestKey
beforeAll(async () => {
  api = await startApi()
  admin = await api.newKey({ scopes: ['admin'] })
  await api.table.tenants.create({ v: 1, id: TENANT, name: 'unlucky', createdAt: Date.now() })
})
afterAll(() => api.stop())

/** An execution with this end, in a new container unless one is named. */
async function ended(change: Partial<Execution>, wanted: Partial<NewExecution> = {}): Promise<Execution> {
  const container = await createContainer(api.table, { tenant: TENANT, subject: null, name: 'x', memoryTier: '1g' }, systemClock.now())
  const own = { tenant: TENANT, containerId: container.id, source: { kind: 'code', code: 'print("again")' }, ...wanted } as const
  const { execution } = await acceptExecution(api, executionRow(own), systemClock.now())
  const acquired = await api.table.executions.acquireLease({ tenant: TENANT, id: execution.id }, LEASE)
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  const end = { status: 'failed', endedAt: systemClock.now(), ...change } as const
  const row = await api.table.executions.commit({ tenant: TENANT, id: execution.id, fence: acquired.row.fence }, end)
  if (row === null) throw new Error('lost')
  return row
}

interface Answer {
  readonly status: number
  readonly body: { readonly id: string; readonly error: { readonly code: string; readonly message: string } }
}
async function redrive(id: string, body: object = {}, tenant = TENANT): Promise<Answer> {
  const answer = await api.post(`/v1/admin/tenants/${tenant}/dead_letters/${id}/redrive`, body, { key: admin })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}
const redriven = async (id: string, body: object = {}): Promise<string> => {
  const { status, body: made } = await redrive(id, body)
  expect(status).toBe(202)
  return made.id
}
const refused = async (...call: Parameters<typeof redrive>): Promise<string> => {
  const { status, body } = await redrive(...call)
  return `${status} ${body.error.code} ${body.error.message}`
}

it('lists only dead letters, page by page, and whether each may have run', async () => {
  const ofOne = [
    await ended({ reason: 'dead_letter' }),
    await ended({ reason: 'dead_letter', sandboxId: newId('sandbox') }),
    await ended({ reason: 'dead_letter' }),
  ]
  const [, handed] = ofOne
  const second = await ended({ reason: 'dead_letter' }, { containerId: ofOne[0]?.containerId ?? '' })
  await ended({ reason: 'error' })
  const found: { readonly id: string; readonly may_have_run: boolean }[] = []
  for (let after = '', hasMore = true; hasMore;) {
    const path = `/v1/admin/tenants/${TENANT}/dead_letters?limit=1${after === '' ? '' : `&after=${after}`}`
    const page = (await (await api.fetch(path, { key: admin })).json()) as { data: typeof found; last_id: string; has_more: boolean }
    found.push(...page.data)
    after = page.last_id
    hasMore = page.has_more
  }
  expect(found.map(({ id }) => id).toSorted()).toEqual([...ofOne, second].map(({ id }) => id).toSorted())
  expect(found.filter((row) => row.may_have_run).map(({ id }) => id)).toEqual([handed?.id])
})

it('accepts one again once under a new id in the same container, in its language and folder', async () => {
  const dead = await ended({ reason: 'dead_letter', responseId: newId('response') }, { language: 'bash', scope: { cwd: 'data' } })
  const id = await redriven(dead.id)
  expect(await redriven(dead.id)).toBe(id)
  expect(await api.table.executions.get(TENANT, id)).toMatchObject({
    ...{ status: 'queued', containerId: dead.containerId, source: dead.source, responseId: null },
    ...{ language: 'bash', scope: { cwd: 'data' } },
  })
  // The old one is still queued, as after a crash. It precedes the new one, and no position is used twice.
  const container = await api.table.containers.get(TENANT, dead.containerId)
  expect(container?.queue.filter((queued) => queued === id)).toHaveLength(1)
})

it('does not accept code that may have run unless the call allows it', async () => {
  const handed = await ended({ reason: 'dead_letter', sandboxId: newId('sandbox') })
  expect(await refused(handed.id)).toMatch(/^409 conflict .*may have run.*may_have_run/)
  expect(await redriven(handed.id, { may_have_run: true })).toMatch(/^exec_/)
})

it('refuses ids that are no dead letter, do not exist or are no job', async () => {
  const failed = await ended({ reason: 'error' })
  expect(await refused(failed.id)).toBe(
    `409 conflict ${failed.id} is no dead letter: it is failed (error). Only dead letters can be accepted again.`,
  )
  expect(await refused(newId('execution'))).toMatch(/^404 execution_not_found/)
  expect(await refused('cntr_1')).toMatch(/^404 execution_not_found/)
  expect(await refused(failed.id, {}, newId('tenant'))).toMatch(/^404 tenant_not_found/)
})

it('accepts a turn again once, also one whose request is an object', async () => {
  const error = { code: 'dead_letter', message: 'x' }
  for (const input of ['ask again', 'x'.repeat(200_000)]) {
    const id = newId('response')
    const stored = await storeRequest(api.objects, { tenant: TENANT, id }, responseRequest({ input }))
    await api.table.responses.create(responseRow({ id, tenant: TENANT, status: 'failed', error, ...stored }))
    const again = await redriven(id)
    expect(await redriven(id)).toBe(again)
    const row = await api.table.responses.get(TENANT, again)
    expect(row).toMatchObject({ status: 'queued', items: [], error: null })
    expect(row?.requestRef?.bytes ?? 0).toBe(stored.requestRef?.bytes ?? 0)
  }
  const fine = responseRow({ tenant: TENANT, status: 'completed' })
  await api.table.responses.create(fine)
  expect(await refused(fine.id)).toMatch(/is no dead letter/)
})
