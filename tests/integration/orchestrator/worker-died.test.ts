import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { itemPosition } from '../../../services/model/conversations/conversation.ts'
import { ExecutionSlots, readShare } from '../../../services/operations/executions/execution-slots.ts'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import type { StepDeps } from '../../../services/workers/deps.ts'
import { hibernate } from '../../../services/workers/run/hibernation/hibernate.ts'
import type { SandboxFinder } from '../../../services/workers/run/sandboxes/sandbox-finder.ts'
import type { SandboxDriver } from '../../../services/ports/sandbox-driver.ts'
import type { Supervisor } from '../../../services/ports/supervisor.ts'
import type { LeaseResult } from '../../../services/ports/leased-store.ts'
import { dayOf } from '../../../services/model/usage/usage.ts'
import type { WebhookEventType } from '../../../services/model/webhooks/webhook.ts'
import { changeEndpoints } from '../../../services/operations/webhooks/endpoints.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { singleImage } from '../../../services/model/containers/images.ts'
import { emptyResult } from '../../support/finish-execution.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { containerRow, conversationRow, executionRow, sandboxRow } from '../../support/rows.ts'
import { HOUR_MS, ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()
const DAY_MS = 24 * HOUR_MS
const SOCKET = { kind: 'unix', socketPath: '/nowhere' } as const

async function addEndpoint(tenant: string, eventType: WebhookEventType): Promise<string> {
  const id = newId('webhook')
  const endpoint = { id, subject: null, name: 'hook', url: 'https://example.com/', eventTypes: [eventType], secret: 'whsec_AAAA' }
  const made = { ...endpoint, formerSecret: null, createdAt: 0, updatedAt: 0 }
  await changeEndpoints(fixture.storage.table.sharedRows, tenant, () => ({ endpoints: [made], result: null }))
  return id
}
const deliveriesOf = async (tenant: string, endpointId: string) =>
  (await fixture.storage.table.deliveries.listByEndpoint(tenant, endpointId, { after: null, limit: 10, order: 'asc' })).rows
const setPolicy = (tenant: string, limits: Readonly<Record<string, number>>) =>
  fixture.storage.table.tenants.create({ v: 1, id: tenant, name: 'x', createdAt: fixture.now, policy: { limits } })

function acquired<Row>(result: LeaseResult<Row>): Row {
  if (result.kind !== 'acquired') throw new Error(result.kind)
  return result.row
}
const lease = () => ({ owner: 'worker', now: fixture.now, expiresAt: fixture.now + 30_000 })

/** Commits the end of an execution as its worker does, which dies before it publishes the completion. Its messages are lost with it. */
async function endWithoutCompletion(tenant: string, id: string): Promise<void> {
  const { executions } = fixture.storage.table
  const { fence } = acquired(await executions.acquireLease({ tenant, id }, lease()))
  await executions.commit({ tenant, id, fence }, { status: 'succeeded', endedAt: fixture.now, result: emptyResult, tailEvents: [] })
}

async function passes(...seconds: readonly number[]): Promise<void> {
  for (const pause of seconds) {
    fixture.now += pause * 1000
    await reconcile(fixture.deps)
  }
}

describe('a worker that died after the end of its job', () => {
  it('leaves the webhook of an execution to the reconciler', async () => {
    const container = await fixture.newContainer()
    const endpoint = await addEndpoint(container.tenant, 'execution.succeeded')
    await endWithoutCompletion(container.tenant, await fixture.accept(container))
    await passes(20, 60, 600, 7_200, 90_000)
    expect((await fixture.storage.table.containers.get(container.tenant, container.id))?.queue).toEqual([])
    expect(await deliveriesOf(container.tenant, endpoint)).toHaveLength(1)
  })

  it('leaves usage and slot of a command to the reconciler', async () => {
    const { table } = fixture.storage
    const [tenant, containerId, id] = [newId('tenant'), newId('container'), newId('command')]
    const held = { sandboxId: newId('sandbox'), generation: 1, commands: [id], lastActiveAt: fixture.now, dueAt: fixture.now }
    await table.containers.create(containerRow({ tenant, id: containerId, ...held }))
    const source = { kind: 'command', argv: ['x'], stdin: null, hasOpenInput: false, pty: null, isBackground: false } as const
    await table.executions.create(executionRow({ tenant, id, containerId, createdAt: fixture.now, source }))
    await new ExecutionSlots(fixture.deps).request(tenant, { executionId: id, containerId }, 1)
    const day = dayOf(fixture.now)
    await endWithoutCompletion(tenant, id)
    await passes(20, 60, 600, 3_600)
    expect((await table.containers.get(tenant, containerId))?.commands).toEqual([])
    expect(Object.keys((await readShare(table.sharedRows, tenant)).running)).toEqual([])
    expect(await table.usage.ofDay(tenant, day)).toHaveLength(1)
  })

  it('leaves no conversation locked permanently', async () => {
    const { conversations } = fixture.storage.table
    const [tenant, id] = [newId('tenant'), newId('conversation')]
    await setPolicy(tenant, { conversationDays: 2 })
    const row = { tenant, id, createdAt: fixture.now, queue: [newId('response')], dueAt: fixture.now + DAY_MS }
    await conversations.create(conversationRow(row))
    const position = itemPosition(fixture.now, 'a', 0)
    const content = { kind: 'wire', item: { type: 'message' } } as const
    await conversations.putItems([{ v: 1, tenant, conversationId: id, id: 'msg_1', position, responseId: null, content }])
    await passes(...Array.from({ length: 10 }, () => DAY_MS / 1000))
    expect(await conversations.get(tenant, id)).toBeNull()
  })
})

it('delivers the expiry of a container once, although its checks repeat it', async () => {
  const { table } = fixture.storage
  const [tenant, id] = [newId('tenant'), newId('container')]
  await setPolicy(tenant, { containerDays: 90 })
  const endpoint = await addEndpoint(tenant, 'container.expired')
  await table.containers.create(containerRow({ tenant, id, createdAt: fixture.now, lastActiveAt: fixture.now, dueAt: fixture.now + 1_000 }))
  let delivered = 0
  for (let pass = 0; pass < 320; pass++) {
    await passes((6 * HOUR_MS) / 1000)
    for (const delivery of await deliveriesOf(tenant, endpoint)) {
      if (delivery.status !== 'pending') continue
      const { fence } = acquired(await table.deliveries.acquireLease({ tenant, id: delivery.id }, lease()))
      const removeAt = fixture.now + 30 * DAY_MS
      await table.deliveries.commit({ tenant, id: delivery.id, fence }, { status: 'delivered', endedAt: fixture.now }, { removeAt })
      delivered++
    }
  }
  expect(delivered).toBe(1)
})

it('does not stop a warm sandbox that was claimed after its row was read', async () => {
  const { table } = fixture.storage
  const id = newId('sandbox')
  const since = fixture.now - 2 * HOUR_MS
  const image = noSandboxes.images.resolve().reference
  await table.sandboxes.create(
    sandboxRow({ id, state: 'ready', image, createdAt: since, readyAt: since, dueAt: fixture.now - 1, address: SOCKET }),
  )
  const stopped: string[] = []
  const driver: SandboxDriver = { ...noSandboxes, stop: async (sandbox) => void stopped.push(sandbox) }
  const by = { tenant: newId('tenant'), containerId: newId('container') }
  const sandboxes = {
    ...table.sandboxes,
    async get(sandbox: string) {
      const row = await table.sandboxes.get(sandbox)
      if (sandbox === id) await table.sandboxes.claim(id, by, { now: fixture.now, dueAt: fixture.now + 30_000 })
      return row
    },
  }
  await reconcile({ ...fixture.deps, driver, table: { ...table, sandboxes } })
  expect((await table.sandboxes.get(id))?.claimedBy).toEqual(by)
  expect(stopped).not.toContain(id)
})

it('keeps the snapshot of a hibernation whose commit got no answer', async () => {
  const { table, objects } = fixture.storage
  const [tenant, id, sandboxId] = [newId('tenant'), newId('container'), newId('sandbox')]
  await table.containers.create(
    containerRow({ tenant, id, sandboxId, generation: 1, lastActiveAt: fixture.now, dueAt: fixture.now + HOUR_MS }),
  )
  const containers: Table['containers'] = {
    ...table.containers,
    async hibernate(...change) {
      await table.containers.hibernate(...change)
      throw new Error('socket hang up')
    },
  }
  const usage = { runMs: 1, cpuMs: 1 }
  const supervisor = {
    listFiles: async () => ({ files: [], skipped: [] }),
    snapshot: async () => ({ usage: () => usage, body: Readable.from([Buffer.from('variables')]) }),
  }
  const deps = {
    ...fixture.deps,
    table: { ...table, containers },
    limits: createLimitReader(table.tenants, fixture.deps.clock),
    supervisor: supervisor as unknown as Supervisor,
    costPerSecond: () => 0,
  } as unknown as StepDeps
  const finder = { own: async () => ({ sandboxId, address: SOCKET, privateKey: 'k' }) } as unknown as SandboxFinder
  const message = { v: 1, type: 'container.hibernate', tenant, containerId: id, idleSince: fixture.now } as const
  await expect(hibernate(deps, finder, message)).rejects.toThrow('socket hang up')
  const { snapshot = null } = (await table.containers.get(tenant, id)) ?? {}
  expect(await objects.head(snapshot?.objectKey ?? '')).not.toBeNull()
})

it('restores the variables after an outage of the store', async () => {
  const { table, objects, queue } = fixture.storage
  const [tenant, sandboxId, containerId, id] = [newId('tenant'), newId('sandbox'), newId('container'), newId('execution')]
  const objectKey = `tenants/${tenant}/${containerId}/snapshots/s`
  await objects.put(objectKey, Buffer.from('variables'), { contentType: 'application/octet-stream' })
  const claim = { claimedBy: { tenant, containerId }, claimedAt: fixture.now }
  await table.sandboxes.create(sandboxRow({ id: sandboxId, state: 'claimed', ...claim, address: SOCKET }))
  const snapshot = { objectKey, bytes: 9, takenAt: 1, tries: 0, isRestored: false }
  await table.containers.create(
    containerRow({ tenant, id: containerId, sandboxId, generation: 1, queue: [id], snapshot, dueAt: fixture.now }),
  )
  await table.executions.create(executionRow({ tenant, id, containerId, createdAt: fixture.now }))
  let isDown = true
  let restores = 0
  const supervisor = {
    health: async () => ({}),
    restore: async () => {
      restores++
      return { lost: [], usage: { runMs: 1, cpuMs: 1 } }
    },
    execute: () => Promise.reject(new Error('The test ends here.')),
  } as unknown as Supervisor
  const step = createRunStep({
    ...fixture.deps,
    queue,
    objects: {
      ...objects,
      get: (key) => (isDown && key === objectKey ? Promise.reject(new Error('503 SlowDown')) : objects.get(key)),
    },
    supervisor,
    images: singleImage('none'),
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  })
  const send = () => step({ v: 1, type: 'execution.step', tenant, containerId, executionId: id }).catch(() => undefined)
  for (let failures = 0; failures < 6; failures++) {
    await send()
    fixture.now += 8_000
  }
  isDown = false
  await send()
  expect(restores).toBe(1)
  expect((await table.executions.get(tenant, id))?.lostBefore).toEqual([])
})
