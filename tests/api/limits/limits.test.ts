import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MEMORY_TIERS } from '../../../services/model/limits.ts'
import type { TenantLimits } from '../../../services/model/tenants/tenant-limits.ts'
import { sandboxRow } from '../../support/rows.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { memoryTiers: MEMORY_TIERS.filter((tier) => tier !== '64g') } })
})
afterAll(() => api.stop())

/** A tenant with these limits. */
async function tenantWith(limits: Partial<TenantLimits>): Promise<TestKey> {
  const key = await api.newKey()
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'limited', createdAt: Date.now(), policy: { limits } })
  return key
}
const refusal = async (answer: Response): Promise<unknown> => [answer.status, await answer.json()]
const containerOf = async (key: TestKey): Promise<string> => (await api.openai(key).containers.create({ name: 'c' })).id

describe('GET /v1/limits', () => {
  it('returns the limits and the usage of the account', async () => {
    const key = await tenantWith({ timeoutSeconds: 60, diskBytes: 2 ** 26, memoryLimit: '4g', liveContainers: 3 })
    await api.table.sandboxes.create(sandboxRow({ state: 'claimed', claimedBy: { tenant: key.tenant, containerId: 'cntr_x' } }))
    const body: unknown = await (await api.fetch('/v1/limits', { key })).json()
    expect(body).toMatchObject({
      limits: {
        timeout_seconds: { value: 60, unit: 'seconds', used: null },
        max_timeout_seconds: { value: 60 },
        default_timeout_seconds: { value: 60 },
        disk_bytes: { value: 2 ** 26, unit: 'bytes' },
        live_containers: { value: 3, unit: 'count', used: 1 },
        processes: { value: 256 },
      },
      memory_limits: [{ memory_limit: '1g' }, { memory_limit: '4g' }],
    })
  })

  it('states the limits of the proxy in front of the API', async () => {
    const behind = await startApi({ config: { requestBytes: { json: 5_500_000, binary: 4_400_000 } } })
    try {
      const body: unknown = await (await behind.fetch('/v1/limits', { key: await behind.newKey() })).json()
      expect(body).toMatchObject({
        limits: {
          max_json_bytes: { value: 5_500_000, unit: 'bytes' },
          max_multipart_file_bytes: { value: 4_400_000 - 8_192 },
          max_upload_part_bytes: { value: 4_400_000 - 8_192 },
          max_file_bytes: { value: 512 * 2 ** 20 },
        },
      })
    } finally {
      await behind.stop()
    }
  })

  it('returns no data of other accounts', async () => {
    await tenantWith({ timeoutSeconds: 60 })
    expect(await (await api.fetch('/v1/limits')).json()).toMatchObject({
      limits: { timeout_seconds: { value: 3_600 } },
      memory_limits: [{ memory_limit: '1g' }, { memory_limit: '4g' }, { memory_limit: '16g' }],
    })
  })
})

describe('a request beyond a limit is refused with the name of the limit:', () => {
  it('a time limit', async () => {
    const key = await tenantWith({ timeoutSeconds: 60 })
    const path = `/v1/containers/${await containerOf(key)}/executions?wait=0`
    expect(await refusal(await api.post(path, { code: '1', timeout_seconds: 61 }, { key }))).toMatchObject([
      400,
      { error: { code: 'limit_exceeded', param: 'timeout_seconds', message: expect.stringContaining('60 seconds') } },
    ])
    const accepted = (await (await api.post(path, { code: '1' }, { key })).json()) as { id: string }
    expect((await api.table.executions.get(key.tenant, accepted.id))?.timeoutSeconds).toBe(60)
  })

  it('memory', async () => {
    const key = await tenantWith({ memoryLimit: '1g' })
    const answer = await api.post('/v1/containers', { name: 'c', memory_limit: '4g' }, { key })
    expect(await refusal(answer)).toMatchObject([400, { error: { code: 'limit_exceeded', param: 'memory_limit' } }])
    const tools = [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }]
    expect(await refusal(await api.post('/v1/responses', { model: 'demo', input: 'x', tools }, { key }))).toMatchObject([
      400,
      { error: { code: 'limit_exceeded', param: 'tools[0].container.memory_limit' } },
    ])
  })

  it('memory that no sandbox here supports', async () => {
    const answer = await api.post('/v1/containers', { name: 'c', memory_limit: '64g' })
    expect(await refusal(answer)).toMatchObject([
      400,
      { error: { code: 'unsupported_value', param: 'memory_limit', message: expect.stringContaining('1g, 4g, 16g') } },
    ])
  })

  it.for([
    ['processes', 65],
    ['disk_bytes', 2 ** 27],
    ['cpu_seconds', 31],
  ] as const)('%s of a container', async ([name, value]) => {
    const key = await tenantWith({ processes: 64, diskBytes: 2 ** 26, cpuSeconds: 30 })
    const answer = await api.post('/v1/containers', { name: 'c', limits: { [name]: value } }, { key })
    expect(await refusal(answer)).toMatchObject([
      400,
      { error: { code: 'limit_exceeded', param: `limits.${name}`, message: expect.stringContaining(`limit ${name}`) } },
    ])
  })

  it.for([[{ processes: 1 }], [{ processes: 1e9 }], [{ disk_bytes: 1.5 }], [{ gpus: 1 }], [{ timeout_seconds: 5 }]] as const)(
    'and %o is no limit at all',
    async ([limits]) => {
      expect((await api.post('/v1/containers', { name: 'c', limits })).status).toBe(400)
    },
  )

  it('a container beyond live_containers, until one is deleted', async () => {
    const key = await tenantWith({ liveContainers: 1 })
    const live = sandboxRow({ state: 'claimed', claimedBy: { tenant: key.tenant, containerId: 'cntr_other' } })
    await api.table.sandboxes.create(live)
    const path = `/v1/containers/${await containerOf(key)}/executions?wait=0`
    const refused = await api.post(path, { code: '1' }, { key })
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refusal(refused)).toMatchObject([429, { error: { code: 'concurrency_limit_reached', type: 'rate_limit_error' } }])
    const again = { key, headers: { 'idempotency-key': 'once' } }
    expect((await api.post(path, { code: '2' }, again)).status).toBe(429)
    await api.table.sandboxes.remove(live.id)
    await expect.poll(async () => (await api.post(path, { code: '1' }, { key })).status).toBe(202)

    const accepted = (await (await api.post(path, { code: '2' }, again)).json()) as { id: string }
    await api.table.sandboxes.create(live)
    const replayed = await api.post(path, { code: '2' }, again)
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
    expect(await replayed.json()).toMatchObject({ id: accepted.id })
  })
})

it('a container may have lower limits and returns them', async () => {
  const key = await tenantWith({ processes: 128 })
  const made = (await (await api.post('/v1/containers', { name: 'c', limits: { processes: 64, displays: 5 } }, { key })).json()) as {
    id: string
  }
  expect(made).toMatchObject({ limits: { processes: 64, displays: 5 } })
  expect((await api.table.containers.get(key.tenant, made.id))?.limits).toEqual({ processes: 64, displays: 5 })
  expect(await (await api.post('/v1/containers', { name: 'c' }, { key })).json()).not.toHaveProperty('limits')
})
