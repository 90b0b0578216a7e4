import { afterAll, beforeAll, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { ContainerFile } from '../../../services/model/files/file.ts'
import { newId } from '../../../services/model/ids.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { createLink } from '../../../services/operations/links/create-link.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { fileRow, T0 } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
let storage: Storage
let deps: ReconcilerDeps
let now = T0
beforeAll(async () => {
  storage = await startStorage()
  deps = {
    ...storage,
    signals: createLocalSignals(),
    clock: { now: () => now },
    telemetry: silentTelemetry,
    driver: noSandboxes,
    poolSizes: {},
    maxStarts: 1,
    costPerSecond: () => 0,
    hibernateAfterMs: 300_000,
    workerId: 'sweep-test',
  }
})
afterAll(() => storage.stop())

/** A container with a stored file. */
async function putFile(
  change: Partial<ContainerFile>,
  container = { tenant: newId('tenant'), id: newId('container') },
): Promise<ContainerFile> {
  const objectKey = `tenants/${container.tenant}/${container.id}/files/${newId('file')}`
  const file = fileRow({ tenant: container.tenant, containerId: container.id, objectKey, ...change })
  await storage.objects.put(objectKey, Buffer.from('bytes'), { contentType: 'text/plain' })
  await storage.table.files.put(file)
  return file
}
/** Runs the reconciler on the file's container at this time. */
async function reconcileAt(file: ContainerFile, at: number): Promise<'kept' | 'swept'> {
  now = at
  const { tenant, containerId: id } = file
  if ((await storage.table.containers.get(tenant, id)) === null)
    await createContainer(storage.table, { tenant, id, subject: null, name: 'x', memoryTier: '1g' }, at)
  await storage.table.containers.filesChanged(tenant, id, at)
  await storage.table.containers.postpone(tenant, id, at)
  expect(await reconcile(deps)).toMatchObject({ failed: 0 })
  const row = await storage.table.files.get(tenant, id, file.id)
  const object = await storage.objects.head(file.objectKey)
  expect(row === null, 'row and bytes go together').toBe(object === null)
  return row === null ? 'swept' : 'kept'
}
const RETENTION = LIMITS.retentionDays * DAY

it.each<[string, Partial<ContainerFile>, number]>([
  ['an upload that never came', { state: 'awaiting_upload', isCurrent: false }, DAY],
  ['a deleted file', { state: 'deleted', isCurrent: false, endedAt: T0 + HOUR, executionId: 'exec_1' }, DAY + HOUR],
  [
    "a superseded version that an execution's result cites",
    { isCurrent: false, endedAt: T0 + HOUR, executionId: 'exec_1' },
    RETENTION + HOUR,
  ],
  ['one that was superseded late', { isCurrent: false, endedAt: T0 + RETENTION }, 2 * RETENTION],
  ['one of before the time was noted', { isCurrent: false }, RETENTION],
])('%s is removed when it expires, row and bytes', async (_, change, after) => {
  const file = await putFile(change)
  expect(await reconcileAt(file, T0 + after - 1)).toBe('kept')
  expect(await reconcileAt(file, T0 + after)).toBe('swept')
})

it('a current file is kept', async () => {
  expect(await reconcileAt(await putFile({}), T0 + RETENTION + DAY)).toBe('kept')
})

it('a version with a live link is kept until the link expires or is revoked', async () => {
  const file = await putFile({ isCurrent: false })
  const after = T0 + RETENTION
  const target = { objectKey: file.objectKey, filename: 'a', mime: 'text/plain', bytes: 5 }
  const wanted = { tenant: file.tenant, containerId: file.containerId, fileId: file.id, target, publicUrl: 'http://x', days: 7 }
  await createLink(storage.table.links, wanted, after - 6 * DAY)
  const later = await createLink(storage.table.links, { ...wanted, days: 9 }, after - 6 * DAY)
  expect(await reconcileAt(file, after + 2 * DAY)).toBe('kept')
  await storage.table.links.revoke(file.tenant, later.id, after + 2 * DAY)
  expect(await reconcileAt(file, after + 2 * DAY + 1)).toBe('swept')
})

it('a pass removes a bounded number, continues soon and schedules the next due version', async () => {
  const container = { tenant: newId('tenant'), id: newId('container') }
  const files = await Promise.all(Array.from({ length: 203 }, () => putFile({ isCurrent: false }, container)))
  const [first] = files
  if (first === undefined) throw new Error('no files')
  await putFile({ isCurrent: false, endedAt: T0 + RETENTION }, container)
  await reconcileAt(first, T0 + RETENTION)
  const left = async (): Promise<number> => (await storage.table.files.all(container.tenant, container.id)).length
  expect(await left()).toBe(4)
  now = (await storage.table.containers.get(container.tenant, container.id))?.dueAt ?? 0
  expect(now).toBe(T0 + RETENTION + 60_000)
  await reconcile(deps)
  expect(await left()).toBe(1)
  expect((await storage.table.containers.get(container.tenant, container.id))?.dueAt).toBe(now + 7 * DAY)
})

it('the row of a file that a request referenced is kept longer than its bytes', async () => {
  const file = await putFile({ isCurrent: false, isBrought: true })
  now = T0 + RETENTION
  await createContainer(storage.table, { tenant: file.tenant, id: file.containerId, subject: null, name: 'x', memoryTier: '1g' }, now)
  await storage.table.containers.postpone(file.tenant, file.containerId, now)
  await reconcile(deps)
  expect(await storage.table.files.get(file.tenant, file.containerId, file.id)).toMatchObject({ state: 'swept' })
  expect(await storage.objects.head(file.objectKey)).toBeNull()
})
