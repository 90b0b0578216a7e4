import { expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { itemPosition } from '../../../services/model/conversations/conversation.ts'
import { newId } from '../../../services/model/ids.ts'
import { newObjectKey, tenantObjects } from '../../../services/model/object-keys.ts'
import { firstRetentionCheck } from '../../../services/model/tenants/retention.ts'
import type { TenantLimits } from '../../../services/model/tenants/tenant-limits.ts'
import { executionRow, responseRow } from '../../support/rows.ts'
import { ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()
const DAY = 86_400_000

/** A tenant with these limits and one object of each kind, of which the container is used again on the third day. */
async function fill(limits: Partial<TenantLimits>) {
  const { table, objects } = fixture.storage
  const tenant = newId('tenant')
  const at = fixture.now
  await table.tenants.create({ v: 1, id: tenant, name: 't', createdAt: 1, policy: { limits } })
  const put = async (parent: string, kind: 'files' | 'outputs' | 'results' | 'events'): Promise<string> => {
    const key = newObjectKey(tenant, kind, parent)
    await objects.put(key, Buffer.from('{"secret":1}'), { contentType: 'application/json' })
    return key
  }
  const container = await createContainer(table, { tenant, subject: null, name: 'c', memoryTier: '1g' }, at)
  const containerId = container.id
  const resultRef = { objectKey: await put(containerId, 'results'), bytes: 12 }
  const execution = executionRow({ tenant, containerId, createdAt: at, endedAt: at, status: 'succeeded', dueAt: null, resultRef })
  await table.executions.create(execution)
  const event = { seq: 1, at, type: 'stdout', cell: 0, text: 'secret' } as const
  await table.events.append({ kind: 'execution', tenant, id: execution.id }, { firstSeq: 1, events: [event], fence: 1, sourceSeq: null })
  const file = newId('file')
  const userFile = { v: 1, tenant, subject: null, id: file, filename: 'f', bytes: 1, sha256: '', mime: 'text/plain' } as const
  await table.userFiles.create({ ...userFile, purpose: 'user_data', createdAt: at, expiresAt: null, objectKey: await put(file, 'files') })
  const conversation = newId('conversation')
  const idle = {
    metadata: {},
    title: null,
    archivedAt: null,
    queue: [],
    containerId: null,
    deletedAt: null,
    dueAt: firstRetentionCheck(at),
  }
  await table.conversations.create({ v: 1, tenant, subject: null, id: conversation, createdAt: at, ...idle })
  const content = { kind: 'wire', item: { type: 'message', role: 'user', content: 'secret' } } as const
  const item = { v: 1, tenant, conversationId: conversation, id: newId('item'), responseId: null, content } as const
  await table.conversations.putItems([{ ...item, position: itemPosition(at, 'x', 0) }])
  const response = responseRow({ tenant, createdAt: at, completedAt: at, status: 'completed', dueAt: firstRetentionCheck(at) })
  await table.responses.create(response)
  const left = async () => ({
    container: (await table.containers.get(tenant, containerId)) !== null,
    execution: (await table.executions.get(tenant, execution.id)) !== null,
    events: (await table.events.last({ kind: 'execution', tenant, id: execution.id })) !== null,
    file: (await table.userFiles.get(tenant, file)) !== null,
    conversation: (await table.conversations.get(tenant, conversation)) !== null,
    response: (await table.responses.get(tenant, response.id)) !== null,
    bytes: await objects.sizeOf(tenantObjects(tenant)),
  })
  return { tenant, containerId, left, at }
}

/** A pass on every day, and enough passes on the last one for what takes several. */
async function passUntil(time: number): Promise<void> {
  while (fixture.now + DAY < time) await fixture.passAt(fixture.now + DAY)
  await fixture.passAt(time)
  for (const _ of [1, 2]) await fixture.passAt(fixture.now + 3_600_001)
}

it('removes each kind of data when its retention of the tenant ends', async () => {
  const { left, at } = await fill({ executionDays: 2, conversationDays: 3, fileDays: 4, responseDays: 5, containerDays: 10 })
  const all = { container: true, execution: true, events: true, file: true, conversation: true, response: true }
  await passUntil(at + 2 * DAY - 10_000_000)
  expect(await left()).toEqual({ ...all, bytes: 24 })
  await passUntil(at + 2 * DAY + 1)
  const noExecution = { ...all, execution: false, events: false, bytes: 12 }
  expect(await left()).toEqual(noExecution)
  await passUntil(at + 3 * DAY + 1)
  expect(await left()).toEqual({ ...noExecution, conversation: false })
  await passUntil(at + 4 * DAY + 1)
  expect(await left()).toEqual({ ...noExecution, conversation: false, file: false, bytes: 0 })
  await passUntil(at + 5 * DAY + 1)
  expect(await left()).toMatchObject({ container: true, response: false })
  await passUntil(at + 10 * DAY + 1)
  expect(Object.values(await left()).filter(Boolean)).toEqual([])
})

it('keeps data without a retention of the tenant, and applies a shorter one within seven days', async () => {
  const { tenant, left, at } = await fill({})
  await passUntil(at + 20 * DAY)
  expect(Object.values(await left())).not.toContain(false)
  const limits = { executionDays: 1, conversationDays: 1, fileDays: 1, responseDays: 1, containerDays: 1 }
  await fixture.storage.table.tenants.setPolicy(tenant, { limits })
  await passUntil(fixture.now + 7 * DAY)
  expect(Object.values(await left()).filter(Boolean)).toEqual([])
})

it('counts the retention of a conversation from its last item, and of a container from its last use', async () => {
  const { tenant, containerId, left, at } = await fill({ containerDays: 3, conversationDays: 3 })
  await passUntil(at + 2 * DAY)
  await fixture.storage.table.containers.filesChanged(tenant, containerId, fixture.now)
  await passUntil(at + 4 * DAY)
  expect(await left()).toMatchObject({ container: true, conversation: false })
})
