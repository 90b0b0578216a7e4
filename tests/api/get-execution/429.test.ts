import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import { emptyResult } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { within } from '../../support/within.ts'

let api: TestApi
let containerId: string
let release: () => void
let reads: Promise<void>
let reading: Promise<void>
let isReading: () => void
/** Reads of results end when the test says so. */
const slowReads = (objects: ObjectStore): ObjectStore => ({
  ...objects,
  async get(key, ...rest) {
    isReading()
    await reads
    return objects.get(key, ...rest)
  },
})
beforeAll(async () => {
  api = await startApi({ config: { maxResultBytesInFlight: 40_000 }, wrapObjects: slowReads })
  containerId = (await api.openai().containers.create({ name: 'busy' })).id
  reads = new Promise((resolve) => (release = resolve))
  reading = new Promise((resolve) => (isReading = resolve))
})
afterAll(() => api.stop())

const WORK = { executions: { code: 'x' }, commands: { argv: ['x'] } } as const
const run = (kind: keyof typeof WORK, wait: number, headers: Record<string, string> = {}): Promise<Response> =>
  api.post(`/v1/containers/${containerId}/${kind}?wait=${wait}`, WORK[kind], { headers })
const accept = async (kind: keyof typeof WORK, headers: Record<string, string> = {}): Promise<string> =>
  ((await (await run(kind, 0, headers)).json()) as { id: string }).id

/** Ends the execution with a result that is stored as an object. */
async function finish(id: string): Promise<void> {
  const now = Date.now()
  const lease = await api.table.executions.acquireLease({ tenant: api.owner.tenant, id }, { owner: 'w', now, expiresAt: now + 1_000 })
  if (lease.kind !== 'acquired') throw new Error(lease.kind)
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/results/${id}`
  const body = Buffer.from(JSON.stringify({ ...emptyResult, stdout: 'x'.repeat(8_000) }))
  const { bytes } = await api.objects.put(objectKey, body, { contentType: 'application/json' })
  await api.table.executions.commit(
    { tenant: api.owner.tenant, id, fence: lease.row.fence },
    {
      status: 'succeeded',
      endedAt: now,
      resultRef: { objectKey, bytes },
    },
  )
}

it('refuses a result beyond the memory for results in flight, and serves it once there is memory again', async () => {
  const [first, second] = [await accept('executions'), await accept('executions')]
  const once = { 'idempotency-key': 'run-once' }
  const started = { executions: await accept('executions', once), commands: await accept('commands', once) }
  for (const id of [first, second, ...Object.values(started)]) await finish(id)
  const held = api.fetch(`/v1/executions/${first}`)
  await reading
  const refused = await within(20_000, 'The refusal', api.fetch(`/v1/executions/${second}`))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_results', type: 'rate_limit_error' } })
  // A repeated call could run the code or the command again, so running it is never refused for its result.
  for (const kind of ['executions', 'commands'] as const) {
    const ran = await run(kind, 5, once)
    const url = `${api.url}/v1/${kind}/${started[kind]}`
    expect([ran.status, ran.headers.get('location')]).toEqual([202, url])
    expect(await ran.json()).toMatchObject({ id: started[kind], status: 'succeeded', omitted: [{ what: 'result', url }] })
  }
  release()
  expect((await held).status).toBe(200)
  expect((await api.fetch(`/v1/executions/${second}`)).status).toBe(200)
})
