import { expect, it } from 'vitest'
import { cancelExecution } from '../../../services/operations/executions/cancel-execution.ts'
import { ExecutionSlots } from '../../../services/operations/executions/execution-slots.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()

/** A tenant that may run `cap` executions, with one accepted execution in each of `count` containers. */
async function setUp(cap: number, count: number) {
  const tenant = newId('tenant')
  const { table } = fixture.storage
  await table.tenants.create({ v: 1, id: tenant, name: 't', createdAt: 1, policy: { limits: { concurrentExecutions: cap } } })
  const jobs: { readonly container: Container; readonly id: string }[] = []
  for (let n = 0; n < count; n++) {
    const container = await createContainer(table, { tenant, subject: null, name: 'c', memoryTier: '1g' }, fixture.now)
    jobs.push({ container, id: await fixture.accept(container) })
  }
  const step = (n: number) => fixture.sendStep(jobs[n]?.container ?? expect.fail(), jobs[n]?.id ?? '')
  const started = async () => (await table.sandboxes.all()).filter(({ claimedBy }) => claimedBy?.tenant === tenant).length
  const position = (n: number) => new ExecutionSlots({ table, clock: fixture.deps.clock }).position(tenant, jobs[n]?.id ?? '')
  const end = async (n: number) => {
    await cancelExecution(fixture.deps, { tenant, id: jobs[n]?.id ?? '' })
    await step(n)
  }
  return { tenant, jobs, step, started, position, end }
}

it('starts no more executions of a tenant than its cap, and the next when one ends', async () => {
  const { step, started, position, end } = await setUp(2, 5)
  for (const n of [0, 1, 2, 3, 4]) await step(n)
  expect(await started()).toBe(2)
  expect(await Promise.all([0, 1, 2, 3, 4].map(position))).toEqual([null, null, 0, 1, 2])
  await step(3)
  expect(await started()).toBe(2)

  await end(0)
  expect(await Promise.all([2, 3, 4].map(position))).toEqual([null, 0, 1])
  await step(2)
  expect(await started()).toBe(3)
  await end(4)
  await end(1)
  expect(await position(3)).toBeNull()
  await step(3)
  expect(await started()).toBe(4)
})

it('lets another tenant run while one waits for slots', async () => {
  const busy = await setUp(1, 3)
  for (const n of [0, 1, 2]) await busy.step(n)
  const quiet = await setUp(1, 1)
  await quiet.step(0)
  expect([await busy.started(), await quiet.started()]).toEqual([1, 1])
})

it('sends one message per minute for an execution that waits', async () => {
  const { jobs, step, tenant } = await setUp(1, 2)
  await step(0)
  await step(1)
  const row = await fixture.storage.table.executions.get(tenant, jobs[1]?.id ?? '')
  expect(row).toMatchObject({ lease: null, sandboxId: null, dueAt: fixture.now + 60_000 })
})
