import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CloudFormationClient, paginateDescribeStacks } from '@aws-sdk/client-cloudformation'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { deployedScene } from './scenes/deployed.ts'
import { upgradeScene } from './scenes/upgrade.ts'
import type { Account } from './support/emulated-account.ts'
import { openStage, type Stage } from './support/stage.ts'

const run = promisify(execFile)

let stage: Stage
beforeAll(async () => {
  stage = await openStage(inject('sandboxImage'))
  return () => stage.account.stop()
}, 300_000)

deployedScene(() => stage)
upgradeScene(() => stage)

describe('a task that dies', () => {
  it('ends its execution with a reason, and the next call works', { timeout: 240_000 }, async () => {
    const { native } = stage.acme
    const running = await native.run(stage.session, 'import time\nprint("begun", flush=True)\ntime.sleep(120)', 0)
    await stage.isRunning(running.id)
    await run('docker', ['kill', await stage.engineContainer(await stage.sandboxOf(stage.session))])
    const ended = await native.ended(running.id)
    expect([ended.status, ended.reason]).toEqual(['failed', 'sandbox_lost'])
    const next = await native.run(stage.session, 'print("again")')
    expect(next.stdout).toBe('again\n')
    expect(next.lost).toEqual([expect.objectContaining({ what: 'variables' })])
  })
})

describe('removing it', () => {
  it(
    'leaves the data and nothing that runs, can be taken back, and then, when told so, leaves nothing at all',
    { timeout: 600_000 },
    async () => {
      await stage.account.destroy({ removesData: false })
      // ECS has promised to stop them.
      await expect.poll(() => stage.account.ministack.tasks(), { timeout: 60_000 }).toEqual([])
      expect((await stage.account.table().tenants.list()).map(({ name }) => name)).toEqual(['acme'])
      expect(await leftInAccount(stage.account)).toEqual(['Cellblock-emulated-Data'])

      await stage.account.deploy({ warm: 0 })
      expect((await stage.acme.native.run(stage.session, 'print("back")')).stdout).toBe('back\n')
      await stage.account.destroy({ removesData: false })
      await stage.account.destroy({ removesData: true })
      expect(await leftInAccount(stage.account)).toEqual([])
      await expect(stage.account.table().tenants.list()).rejects.toThrow()
    },
  )
})

/** Stacks that are not the CDK's own. */
async function leftInAccount({ sdk }: Account): Promise<string[]> {
  const names: string[] = []
  for await (const page of paginateDescribeStacks({ client: new CloudFormationClient(sdk) }, {}))
    for (const { StackName = '', StackStatus } of page.Stacks ?? [])
      if (StackName !== 'CDKToolkit' && StackStatus !== 'DELETE_COMPLETE') names.push(StackName)
  return names
}
