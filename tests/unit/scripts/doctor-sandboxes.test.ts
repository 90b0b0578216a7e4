import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkTaskEvents } from '../../../scripts/doctor/account/task-events-check.ts'
import { checkWarmPool } from '../../../scripts/doctor/account/warm-pool-check.ts'
import { ImageCatalogue } from '../../../services/model/containers/images.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { createFargateDriver } from '../../../services/adapters/drivers/fargate/fargate-driver.ts'
import { runningTask, startScriptedEcs, stoppedTask, type ScriptedEcs } from '../../support/scripted-ecs.ts'
import { sandboxRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

const IMAGE = 'repository/sandbox:new'
const AT = Date.UTC(2026, 0, 1)

let storage: Storage
let ecs: ScriptedEcs
beforeEach(async () => void ([storage, ecs] = await Promise.all([startStorage(), startScriptedEcs()])))
afterEach(() => Promise.all([storage.stop(), ecs.close()]))

let tasks = 0
/** A sandbox of the pool whose task runs, as the service writes it. */
async function ready(change: Partial<Sandbox> = {}, startedAt = AT): Promise<string> {
  const platformId = `arn:aws:ecs:eu-west-1:1:task/c/${++tasks}`
  const row = sandboxRow({ state: 'ready', image: IMAGE, imageName: 'standard', readyAt: AT + 1_500, platformId, ...change })
  await storage.table.sandboxes.create(row)
  ecs.tasks.set(platformId, {
    ...runningTask({ taskArn: platformId, startedBy: row.id }, `10.0.0.${tasks}`),
    startedAt: (startedAt / 1000) as unknown as Date,
  })
  return platformId
}

describe('the check Warm pool', () => {
  const found = (settings: Partial<Parameters<typeof checkWarmPool>[0]['settings']> = {}) =>
    checkWarmPool({
      sandboxes: storage.table.sandboxes,
      driver: createFargateDriver({
        ecs: ecs.client,
        cluster: 'c',
        images: new ImageCatalogue({ standard: IMAGE }, 'standard'),
        taskDefinitions: {},
        subnets: [],
        securityGroups: [],
      }),
      settings: { tiers: { '1g': { warm: 2 }, '4g': { warm: 0 } }, imagePools: {}, ...settings },
    })

  it('passes when every pool has its size and ECS runs the tasks', async () => {
    await ready()
    await ready()
    expect(await found()).toMatchObject({ check: 'Warm pool', outcome: 'ok', message: 'standard 1g: 2 of 2 ready' })
  })

  it('passes without a configured pool', async () => {
    expect(await found({ tiers: { '1g': { warm: 0 } } })).toMatchObject({ outcome: 'ok', message: 'no pool is configured' })
  })

  it('fails for a pool that is not filled: claimed, starting and outdated sandboxes do not count', async () => {
    await ready()
    await ready({ claimedBy: { tenant: 'tnt_1', containerId: 'cntr_1' }, state: 'claimed' })
    await ready({ state: 'starting', readyAt: null })
    await ready({ image: 'repository/sandbox:old' })
    await ready({ protocol: 0 })
    await ready({ memoryTier: '4g', readyAt: null })
    expect(await found()).toMatchObject({ outcome: 'fail', message: expect.stringContaining('standard 1g: 1 of 2 ready') })
  })

  it('fails for a row whose task has ended', async () => {
    await ready()
    const arn = await ready()
    ecs.tasks.set(arn, stoppedTask(ecs.tasks.get(arn) ?? {}, 137))
    expect(await found()).toMatchObject({ outcome: 'fail', message: expect.stringContaining('1 of 2 sandboxes have no task') })
  })

  it('counts the pools of other images, and warns about a pool that is too large', async () => {
    const settings = { tiers: { '1g': { warm: 1, warmMax: 2 } }, imagePools: { full: { '1g': 1 } } }
    await ready()
    expect(await found(settings)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('full 1g: 0 of 1 ready') })
    await ready({ imageName: 'full', image: 'repository/full:new' })
    await ready()
    expect(await found(settings)).toMatchObject({ outcome: 'ok' })
    await ready()
    expect(await found(settings)).toMatchObject({ outcome: 'warn', message: expect.stringContaining('standard 1g: 3 of 1 ready') })
  })

  it('warns when ECS does not answer', async () => {
    await ready()
    ecs.answer('DescribeTasks', 400, { __type: 'AccessDeniedException', message: 'no' })
    expect(await found()).toMatchObject({ outcome: 'warn', message: expect.stringContaining('ecs:DescribeTasks') })
  })
})

describe('the check Task events', () => {
  const found = () => checkTaskEvents({ sandboxes: storage.table.sandboxes, ecs: ecs.client, cluster: 'c' })

  it('passes when rows name a start within seconds', async () => {
    await ready()
    expect(await found()).toMatchObject({ check: 'Task events', outcome: 'ok', message: expect.stringContaining('after 1.5 s') })
  })

  it('warns when a pass of the reconciler found the start, and when there is no sandbox', async () => {
    expect(await found()).toMatchObject({ outcome: 'warn', message: expect.stringContaining('runs no sandbox') })
    await ready({}, AT - 28_500)
    expect(await found()).toMatchObject({ outcome: 'warn', message: expect.stringContaining('after 30.0 s') })
  })
})
