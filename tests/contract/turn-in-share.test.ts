import { afterAll, beforeAll, expect, it } from 'vitest'
import { turnInShare } from '../../services/entries/aws/chat/turn-in-share.ts'
import { newId } from '../../services/model/ids.ts'
import type { TurnMessage } from '../../services/model/messages.ts'
import { SharedHolds } from '../../services/operations/tenancy/shared-holds.ts'
import { systemClock } from '../../services/ports/clock.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

/** The functions of a worker in AWS, each a process that serves one message. */
const CONCURRENCY = 32

let storage: Storage
const sent: { readonly tenant: string; readonly group: string; readonly delaySeconds: number | undefined }[] = []
const running: string[] = []
const thinking = Promise.withResolvers<undefined>()
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

const receive = (message: TurnMessage): Promise<void> =>
  turnInShare({
    holds: new SharedHolds({ sharedRows: storage.table.sharedRows, clock: systemClock, name: 'turn_steps', capacity: CONCURRENCY }),
    queue: {
      ...storage.queue,
      send: async (_, { tenant }: never, options) => void sent.push({ tenant, ...options, delaySeconds: options.delaySeconds }),
    },
    step: async ({ tenant }) => {
      running.push(tenant)
      await thinking.promise
    },
  })(message)

const turnOf = (tenant: string): TurnMessage => ({ v: 1, type: 'response.step', tenant, responseId: newId('response') })
const runningOf = (tenant: string): number => running.filter((other) => other === tenant).length

it('leaves functions of a worker to others while a tenant has more work than all of them process', async () => {
  const [first, second, third] = [newId('tenant'), newId('tenant'), newId('tenant')]
  const steps: Promise<void>[] = []
  for (const tenant of [first, second]) {
    for (let count = 0; count < CONCURRENCY; count++) steps.push(receive(turnOf(tenant)))
    await expect.poll(() => runningOf(tenant) + sent.filter((one) => one.tenant === tenant).length).toBe(CONCURRENCY)
  }
  expect([runningOf(first), runningOf(second)]).toEqual([CONCURRENCY / 2, CONCURRENCY / 4])
  steps.push(receive(turnOf(third)))
  await expect.poll(() => runningOf(third)).toBe(1)
  expect(sent.every(({ tenant, group, delaySeconds = 0 }) => group === tenant && delaySeconds >= 5 && delaySeconds <= 20)).toBe(true)
  thinking.resolve(undefined)
  await Promise.all(steps)
  await receive(turnOf(second))
  expect(runningOf(second)).toBe(CONCURRENCY / 4 + 1)
})
