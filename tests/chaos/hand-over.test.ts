import { afterAll, beforeAll, expect, it } from 'vitest'
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
