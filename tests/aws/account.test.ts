import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CloudFormationClient, paginateDescribeStacks } from '@aws-sdk/client-cloudformation'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { deployedServiceSuite } from './suites/deployed-service.ts'
import { largeUploadSuite } from './suites/large-uploads.ts'
import { streamingHandlerSuite } from './suites/streaming-handler.ts'
import { upgradeSuite } from './suites/upgrade.ts'
import type { Account } from './support/emulated-account.ts'
import { createFixture, type DeploymentFixture } from './support/deployment-fixture.ts'

const run = promisify(execFile)

let fixture: DeploymentFixture
beforeAll(async () => {
  fixture = await createFixture(inject('sandboxImage'))
  return () => fixture.account.stop()
}, 300_000)

deployedServiceSuite(() => fixture)
largeUploadSuite(() => fixture)
streamingHandlerSuite(() => fixture)
upgradeSuite(() => fixture)

describe('a task that dies', () => {
  it('ends its execution with a reason, and the next call works', { timeout: 240_000 }, async () => {
    const { native } = fixture.acme
    const running = await native.run(fixture.session, 'import time\nprint("begun", flush=True)\ntime.sleep(120)', 0)
    await fixture.isRunning(running.id)
    await run('docker', ['kill', await fixture.engineContainer(await fixture.sandboxOf(fixture.session))])
    const ended = await native.ended(running.id)
    expect([ended.status, ended.reason]).toEqual(['failed', 'sandbox_lost'])
    const next = await native.run(fixture.session, 'print("again")')
    expect(next.stdout).toBe('again\n')
    expect(next.lost).toEqual([expect.objectContaining({ what: 'variables' })])
  })
})

describe('npm run destroy', () => {
  it('retains the data, can be redeployed, and deletes the data with removesData', { timeout: 600_000 }, async () => {
    await fixture.account.destroy({ removesData: false })
    // ECS has promised to stop them.
    await expect.poll(() => fixture.account.ministack.tasks(), { timeout: 60_000 }).toEqual([])
    expect((await fixture.account.table().tenants.list()).map(({ name }) => name)).toEqual(['operator', 'acme'])
    expect(await remainingStacks(fixture.account)).toEqual(['Cellblock-emulated-Data'])

    await fixture.account.deploy({ warm: 0 })
    expect((await fixture.acme.native.run(fixture.session, 'print("back")')).stdout).toBe('back\n')
    await fixture.account.destroy({ removesData: false })
    await fixture.account.destroy({ removesData: true })
    expect(await remainingStacks(fixture.account)).toEqual([])
    await expect(fixture.account.table().tenants.list()).rejects.toThrow()
  })
})

/** Stacks that are not the CDK's own. */
async function remainingStacks({ sdk }: Account): Promise<string[]> {
  const names: string[] = []
  for await (const page of paginateDescribeStacks({ client: new CloudFormationClient(sdk) }, {}))
    for (const { StackName = '', StackStatus } of page.Stacks ?? [])
      if (StackName !== 'CDKToolkit' && StackStatus !== 'DELETE_COMPLETE') names.push(StackName)
  return names
}
