import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SUPERVISOR_PROTOCOL } from '../../services/core/sandboxes/sandbox.ts'
import { checkHistory } from './check-history.ts'
import { createWorker } from './world/worker.ts'
import { startWorld, type World } from './world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

it('hands an execution that outlasts its step over to fresh messages: nothing lost, repeated or stored twice', async () => {
  const container = await world.newContainer()
  const job = await world.accept(container, { lines: 20, pauseMs: 50, pictureBytes: 400_000 })
  // As a function that may run for a tenth of what the code takes.
  const worker = createWorker({ name: 'short-lived', ports: world.byHand, history: world.history, stepBudgetMs: 100 })
  for (let letter = world.courier.take(); letter !== undefined; letter = world.courier.take()) await worker.handle(letter)
  await world.see(job)
  const { entries } = world.history
  // How often depends on how busy the machine is; that the code is sent once does not.
  const handed = entries.filter((entry) => entry.type === 'handed').map((entry) => entry.isFirst)
  expect(handed.length).toBeGreaterThan(1)
  expect(handed).toEqual([true, ...Array(handed.length - 1).fill(false)])
  expect(entries.filter((entry) => entry.type === 'object' && entry.key.includes('/outputs/'))).toHaveLength(1)
  expect(entries.find((entry) => entry.type === 'seen')).toMatchObject({ status: 'succeeded', stdout: job.stdout })
  expect(checkHistory(entries).found).toEqual([])
})

describe('a worker of another version that is handed an execution under way', () => {
  /** How the execution ends when, after the first hand-over, its sandbox is one of that major to a worker that has never seen it. */
  async function endIn(protocol: number) {
    const job = await world.accept(await world.newContainer(), { lines: 20, pauseMs: 50 })
    const workerOf = (name: string) =>
      createWorker({ name: `${name}-${protocol}`, ports: world.byHand, history: world.history, stepBudgetMs: 100 })
    let worker = workerOf('before')
    for (let letter = world.courier.take(); letter !== undefined; letter = world.courier.take()) {
      await worker.handle(letter)
      const { sandboxId } = (await world.clean.table.executions.get(job.tenant, job.execution)) ?? { sandboxId: null }
      const sandbox = sandboxId === null ? undefined : world.fleet.alive.get(sandboxId)
      if (sandbox === undefined || sandbox.protocol === protocol) continue
      sandbox.protocol = protocol
      worker = workerOf('after')
    }
    await world.see(job)
    const seen = world.history.entries.findLast((entry) => entry.type === 'seen')
    expect(checkHistory(world.history.entries).found).toEqual([])
    return { job, seen }
  }

  it('reads on to its end in a sandbox of the major before its own: nothing is lost in an upgrade', async () => {
    const { job, seen } = await endIn(SUPERVISOR_PROTOCOL - 1)
    expect(seen).toMatchObject({ status: 'succeeded', stdout: job.stdout })
  })

  it.each([
    ['newer', SUPERVISOR_PROTOCOL + 1],
    ['two majors older', SUPERVISOR_PROTOCOL - 2],
  ])('ends it with a reason in a sandbox of a %s one, and sends it nothing', async (_, protocol) => {
    const { seen } = await endIn(protocol)
    expect(seen).toMatchObject({ status: 'failed', reason: 'sandbox_lost' })
  })
})
