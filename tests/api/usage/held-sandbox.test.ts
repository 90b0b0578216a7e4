import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { stopSandbox } from '../../../services/workers/place/stop-sandbox.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const address = { kind: 'unix', socketPath: '/sandbox' } as const
const NOON = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 43_200_000
const MIDNIGHT = NOON + 43_200_000

let api: TestApi
/** The time of the reconciler and of the rows, which does not pass by itself. */
let now = 0
let deps: ReconcilerDeps
/** Sandboxes that the platform does not run any more. */
const gone = new Set<string>()
beforeAll(async () => {
  api = await startApi()
  deps = {
    ...api,
    clock: { now: () => now },
    telemetry: { emit: () => undefined },
    driver: {
      ...noSandboxes,
      inspectAll: async (sandboxes) =>
        sandboxes.map(({ id }) => (gone.has(id) ? { phase: 'gone', reason: 'lost', exitCode: null } : { phase: 'ready', address })),
    },
    poolSizes: {},
    maxStarts: 1,
    costPerSecond: () => 0.001,
    hibernateAfterMs: 300_000_000,
    workerId: 'held-sandbox-test',
  }
})
afterAll(() => api.stop())

function setTime(at: number): void {
  now = at
  api.skew += at - api.now()
}

/** A container whose sandbox it holds since now, without an execution. */
async function hold(tenant: string, change: Partial<Sandbox> = {}, subject: string | null = null): Promise<string> {
  const { id, generation } = await createContainer(api.table, { tenant, subject, name: 'x', memoryTier: '1g' }, now)
  const sandbox = newSandbox(
    { memoryTier: '1g', image: noSandboxes.images.resolve().reference, claimedBy: { tenant, containerId: id } },
    now,
  )
  await api.table.sandboxes.create({ ...sandbox, state: 'claimed', address, readyAt: now - 60_000, ...change })
  await api.table.containers.setSandbox(tenant, id, { generation, sandboxId: sandbox.id, stateLost: null, dueAt: null })
  return sandbox.id
}

interface UsageAnswer {
  readonly days: readonly { readonly sandbox_seconds: number }[]
  readonly total: { readonly executions: number; readonly sandbox_seconds: number; readonly cost_usd: number }
}
const usage = async (key: TestKey): Promise<UsageAnswer> => (await (await api.fetch('/v1/usage', { key })).json()) as UsageAnswer
const secondsOf = async (key: TestKey): Promise<number> => Math.round((await usage(key)).total.sandbox_seconds)

it('counts a sandbox from its claim to its release, without an execution, and once', async () => {
  setTime(NOON)
  const key = await api.newKey({ tenant: newId('tenant') })
  const id = await hold(key.tenant)
  for (const seconds of [60, 100]) {
    setTime(NOON + seconds * 1000)
    await reconcile(deps)
    expect(await secondsOf(key)).toBe(seconds)
  }
  setTime(NOON + 130_000)
  await stopSandbox(deps, id)
  await stopSandbox(deps, id)
  setTime(NOON + 500_000)
  await reconcile(deps)
  expect(await secondsOf(key)).toBe(130)
  const { total } = await usage(key)
  expect([total.executions, Math.round(total.cost_usd * 1000)]).toEqual([0, 130])
})

it('reads the container of a sandbox once in a check', async () => {
  setTime(NOON)
  const key = await api.newKey({ tenant: newId('tenant') })
  await hold(key.tenant)
  let reads = 0
  const { containers } = api.table
  const get: typeof containers.get = (tenant, id) => {
    if (tenant === key.tenant) reads += 1
    return containers.get(tenant, id)
  }
  setTime(NOON + 200_000)
  await reconcile({ ...deps, table: { ...api.table, containers: { ...containers, get } } })
  expect([reads, await secondsOf(key)]).toEqual([1, 200])
})

it('refuses code when the sandboxes that an account holds have used up its day', async () => {
  setTime(NOON)
  const key = await api.newKey({ tenant: newId('tenant') })
  const policy = { limits: { sandboxSecondsPerDay: 50 } }
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'limited', createdAt: api.now(), policy })
  await hold(key.tenant)
  const { id } = await api.openai(key).containers.create({ name: 'c' })
  setTime(NOON + 60_000)
  await reconcile(deps)
  const refused = await api.post(`/v1/containers/${id}/executions?wait=0`, { code: '1' }, { key })
  expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: 'sandbox_seconds_exhausted' } }])
})

it('divides a sandbox between the days on which it is held', async () => {
  setTime(MIDNIGHT - 40_000)
  const key = await api.newKey({ tenant: newId('tenant') })
  await hold(key.tenant)
  await reconcile(deps)
  setTime(MIDNIGHT + 20_000)
  await reconcile(deps)
  expect((await usage(key)).days.map(({ sandbox_seconds }) => Math.round(sandbox_seconds))).toEqual([40, 20])
})

it("counts a sandbox for the container's end user", async () => {
  setTime(NOON)
  const tenant = newId('tenant')
  const [anna, ben] = [await api.newKey({ tenant, subject: 'anna' }), await api.newKey({ tenant, subject: 'ben' })]
  await hold(tenant, {}, 'anna')
  setTime(NOON + 60_000)
  await reconcile(deps)
  expect([await secondsOf(anna), await secondsOf(ben)]).toEqual([60, 0])
})

it('counts neither the wait for the platform nor the time in which the server was off', async () => {
  setTime(NOON)
  const key = await api.newKey({ tenant: newId('tenant') })
  const waiting = await hold(key.tenant, { state: 'starting', address: null, readyAt: null })
  const lost = await hold(key.tenant, { dueAt: NOON + 30_000 })
  gone.add(lost)
  setTime(NOON + 3_600_000)
  await stopSandbox(deps, waiting)
  await reconcile(deps)
  expect(await secondsOf(key)).toBe(30)
})
