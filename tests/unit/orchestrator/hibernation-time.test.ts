import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { pausesBetween, planHibernation, sleepTimes } from '../../../services/workers/reconcile/hibernation-time.ts'
import { repairContainer } from '../../../services/workers/reconcile/repair-container.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { executionRow, sandboxRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const MINUTE_MS = 60_000
/** A start on Fargate. */
const SETTINGS = { earlySleepMs: MINUTE_MS, hibernateAfterMs: 5 * MINUTE_MS, wakeMs: 57_000 }

describe('the pauses of a conversation', () => {
  it.each([
    ['no pause yet', [], 60, 300],
    ['one pause, which says too little', [10_000], 60, 300],
    ['short pauses', [5_000, 10_000], 60, 105],
    ['pauses of a minute', [60_000, 50_000, 60_000], 75, 105],
    ['pauses of two minutes', [100_000, 120_000], 150, 165.6],
    ['pauses longer than the limit', [10_000, 900_000], 300, 300],
  ])('follow %s', (_, pauses, warm, cold) => {
    expect(sleepTimes(pauses, SETTINGS)).toEqual({ warmMs: warm * 1000, coldMs: cold * 1000 })
  })

  it.each([
    ['a small image, which starts in half of the time', 25_000, 80],
    ['a sandbox of this machine', 1_500, 61.2],
    ['variables that take as long to restore as a start', 114_000, 210],
  ])('matter less than the wake for %s', (_, wakeMs, cold) => {
    expect(sleepTimes([60_000, 60_000], { ...SETTINGS, wakeMs }).coldMs).toBe(cold * 1000)
    expect(sleepTimes([], { ...SETTINGS, wakeMs }).coldMs).toBe(Math.min(300_000, Math.max(60_000, Math.round((300 / 57) * wakeMs))))
  })

  it('count from the end of an execution to the next acceptance, and not after one that has not ended', () => {
    const rows = [
      { createdAt: 900, endedAt: 950 },
      { createdAt: 700, endedAt: null },
      { createdAt: 400, endedAt: 500 },
      { createdAt: 100, endedAt: 450 },
    ]
    expect(pausesBetween(rows)).toEqual([200, 0])
    expect(pausesBetween([])).toEqual([])
  })
})

describe('an idle container', () => {
  let storage: Storage
  let now = Date.now()
  let deps: ReconcilerDeps
  const sent: (number | undefined)[] = []
  beforeAll(async () => {
    storage = await startStorage()
    const { table, queue, objects } = storage
    deps = {
      table,
      queue: { ...queue, send: async (_name, _message, { delaySeconds }) => void sent.push(delaySeconds) },
      objects,
      signals: createLocalSignals(),
      telemetry: silentTelemetry,
      clock: { now: () => now },
      driver: noSandboxes,
      poolSizes: {},
      maxStarts: 1,
      costPerSecond: () => 0,
      workerId: 'hibernation-time-test',
      betweenPassesMs: MINUTE_MS,
      ...SETTINGS,
    }
  })
  afterAll(() => storage.stop())

  /** A container with a sandbox whose three executions were 30 s apart. */
  async function conversation(): Promise<Container> {
    const { table } = storage
    const made = await createContainer(table, { tenant: newId('tenant'), subject: null, name: 'x', memoryTier: '1g' }, now)
    const { tenant, id: containerId } = made
    const started = { createdAt: now - 200_000, launchedAt: now - 157_000, readyAt: now - 100_000 }
    const sandbox = sandboxRow({ state: 'claimed', claimedBy: { tenant, containerId }, dueAt: now + 3_600_000, ...started })
    await table.sandboxes.create(sandbox)
    for (const agoMs of [70_000, 35_000, 0])
      await table.executions.create(
        executionRow({ tenant, containerId, status: 'succeeded', createdAt: now - agoMs - 5_000, endedAt: now - agoMs, dueAt: null }),
      )
    const given = await table.containers.setSandbox(tenant, containerId, {
      generation: 0,
      sandboxId: sandbox.id,
      stateLost: null,
      dueAt: now,
    })
    if (given === null) throw new Error('The container got no sandbox')
    return given
  }

  it('without a warm sandbox hibernates after 105 seconds when its pauses were short', async () => {
    const container = await conversation()
    const from = container.lastActiveAt
    now = from + 30_000
    expect(await planHibernation(deps, container)).toEqual({ kind: 'check', at: from + 45_000 })
    now = from + 46_000
    expect(await planHibernation(deps, container)).toEqual({ kind: 'hibernate', at: from + 105_000 })
  })

  it('gets a delayed hibernation message, so that it releases its sandbox at the planned time', async () => {
    const container = await conversation()
    now = container.lastActiveAt + 90_000
    sent.length = 0
    await repairContainer(
      { ...deps, limits: createLimitReader(deps.table.tenants, deps.clock) },
      { kind: 'container', tenant: container.tenant, id: container.id, dueAt: now },
    )
    expect(sent).toEqual([15])
    expect((await storage.table.containers.get(container.tenant, container.id))?.dueAt).toBe(container.lastActiveAt + 165_000)
  })

  it('with a warm sandbox hibernates early, and is checked by each pass until then if passes are frequent', async () => {
    const container = await conversation()
    const from = container.lastActiveAt
    await storage.table.sandboxes.create(sandboxRow({ id: newId('sandbox'), state: 'ready', dueAt: from + 3_600_000 }))
    now = from + 10_000
    expect(await planHibernation(deps, container)).toEqual({ kind: 'hibernate', at: from + 60_000 })
    expect(await planHibernation({ ...deps, betweenPassesMs: 0 }, container)).toEqual({ kind: 'check', at: from + 60_000 })
  })
})
