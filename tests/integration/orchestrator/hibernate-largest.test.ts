import { expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { MemoryTier } from '../../../services/model/limits.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { hibernateLargest } from '../../../services/workers/run/sandboxes/hibernate-largest.ts'
import { containerRow } from '../../support/rows.ts'
import { ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()

/** A container with a sandbox, idle for so long. */
async function awake(
  tenant: string,
  { idleMs = 60_000, memoryTier = '1g', ...change }: Partial<Container> & { readonly idleMs?: number; readonly memoryTier?: MemoryTier },
): Promise<string> {
  const id = newId('container')
  const { now, storage } = fixture
  const sandbox = newSandbox({ memoryTier, image: 'none', claimedBy: { tenant, containerId: id } }, now)
  await storage.table.sandboxes.create({ ...sandbox, state: 'claimed' })
  await storage.table.containers.create(
    containerRow({ tenant, id, memoryTier, sandboxId: sandbox.id, generation: 1, lastActiveAt: now - idleMs, ...change }),
  )
  return id
}
const removeAll = async (): Promise<void> => {
  fixture.sent.length = 0
  for (const { id } of await fixture.storage.table.sandboxes.all()) await fixture.storage.table.sandboxes.remove(id)
}
const requested = () => fixture.sent.map(({ containerId }) => containerId)

it('requests the hibernation of what is idle for longest, of the tenant that holds most memory', async () => {
  await removeAll()
  // The sandboxes are read in the order of their tenants.
  const [small = '', large = '', waiting = ''] = [newId('tenant'), newId('tenant'), newId('tenant')].toSorted()
  await awake(small, { idleMs: 600_000 })
  await awake(small, { idleMs: 600_000 })
  await awake(large, { queue: [newId('execution')], idleMs: 500_000, memoryTier: '4g' })
  await awake(large, { idleMs: 20_000 })
  const oldest = await awake(large, { idleMs: 30_000 })
  expect(await hibernateLargest(fixture.deps, waiting)).toBe(true)
  expect(requested()).toEqual([oldest])
})

it('takes from the next tenant while the largest one has no idle container, and nothing for one that holds more itself', async () => {
  await removeAll()
  const [large, small] = [newId('tenant'), newId('tenant')]
  for (let count = 0; count < 3; count++) await awake(large, { queue: [newId('execution')] })
  const idle = await awake(small, {})
  await awake(small, { idleMs: 1_000 })
  expect(await hibernateLargest(fixture.deps, large)).toBe(false)
  expect(await hibernateLargest(fixture.deps, newId('tenant'))).toBe(true)
  expect(requested()).toEqual([idle])
})

it('requests one hibernation at a time', async () => {
  await removeAll()
  const tenant = newId('tenant')
  await awake(tenant, { hibernating: { objectKey: 'x', expiresAt: fixture.now + 30_000 } })
  await awake(tenant, {})
  expect(await hibernateLargest(fixture.deps, tenant)).toBe(true)
  expect(requested()).toEqual([])
})

it('repeats the step of the execution that waits for the memory', async () => {
  await removeAll()
  const idle = await awake(newId('tenant'), {})
  const container = await fixture.newContainer()
  const executionId = await fixture.accept(container)
  const delays: (number | undefined)[] = []
  const { queue } = fixture.deps
  const step = createRunStep({
    ...fixture.runDeps(),
    admission: { admits: async () => false },
    queue: {
      ...queue,
      send: async (name, message, options) => {
        if (message.type === 'execution.step') delays.push(options.delaySeconds)
        else await queue.send(name, message, options)
      },
    },
  })
  await step({ v: 1, type: 'execution.step', tenant: container.tenant, containerId: container.id, executionId })
  expect([requested(), delays]).toEqual([[idle], [2]])
  expect(await fixture.storage.table.executions.get(container.tenant, executionId)).toMatchObject({ lease: null, sandboxId: null })
})
