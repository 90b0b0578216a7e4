import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { finishExecution } from '../../support/finish-execution.ts'

let api: TestApi
let path: string
beforeAll(async () => {
  api = await startApi()
  path = `/v1/containers/${(await api.openai().containers.create({ name: 'runs' })).id}/executions`
})
afterAll(() => api.stop())

interface Body {
  readonly id: string
  readonly status: string
  readonly queue_position?: number
  readonly expected_start_at?: string
}

it('returns at once with wait=0, its queue position and a URL for the result', async () => {
  const first = await api.post(`${path}?wait=0`, { code: 'a' })
  const second = await api.post(`${path}?wait=0`, { code: 'b' })
  expect([first.status, second.status]).toEqual([202, 202])
  const [a, b] = (await Promise.all([first.json(), second.json()])) as [Body, Body]
  expect([a.queue_position, b.queue_position]).toEqual([0, 1])
  expect(a.status).toBe('queued')
  expect(second.headers.get('location')).toBe(`${api.url}/v1/executions/${b.id}`)
  expect(await (await api.fetch(`/v1/executions/${b.id}`)).json()).toMatchObject({ id: b.id, queue_position: 1, usage: null, outputs: [] })
})

it('accepts a repeated request with one Idempotency-Key once', async () => {
  const headers = { 'idempotency-key': 'key-1' }
  const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(`${path}?wait=0`, { code: 'once' }, { headers })))
  const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as Body[]
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]))
  expect(new Set(bodies.map((body) => body.id)).size).toBe(1)

  await finishExecution(api, api.owner.tenant, bodies[0]?.id ?? '')
  const again = await api.post(`${path}?wait=0`, { code: 'once' }, { headers })
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await again.json()).toMatchObject({ id: bodies[0]?.id, status: 'succeeded' })
})

it('separates the same key of another tenant', async () => {
  const headers = { 'idempotency-key': 'shared' }
  const other = (await api.openai(api.otherTenant).containers.create({ name: 'theirs' })).id
  const mine = (await (await api.post(`${path}?wait=0`, { code: 'x' }, { headers })).json()) as Body
  const theirs = await api.post(`/v1/containers/${other}/executions?wait=0`, { code: 'y' }, { headers, key: api.otherTenant })
  expect(theirs.status).toBe(202)
  expect(((await theirs.json()) as Body).id).not.toBe(mine.id)
})
