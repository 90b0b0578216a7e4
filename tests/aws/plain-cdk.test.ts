import { CloudFormationClient, paginateDescribeStacks } from '@aws-sdk/client-cloudformation'
import { PutBucketTaggingCommand, S3Client } from '@aws-sdk/client-s3'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { outputsOf } from '../../scripts/aws/account.ts'
import { restoreTable } from '../../scripts/aws/restore-table.ts'
import { stopSandboxes } from '../../scripts/aws/stop-sandboxes.ts'
import { openAccount, type Account } from './support/emulated-account.ts'
import { runPlainCdk } from './support/plain-cdk.ts'

let account: Account
const image = () => inject('sandboxImage')
beforeAll(async () => {
  account = await openAccount(image())
  return () => account.stop()
}, 120_000)

/** Stacks that are not the CDK's own. */
async function stacks(): Promise<string[]> {
  const names: string[] = []
  for await (const page of paginateDescribeStacks({ client: new CloudFormationClient(account.sdk) }, {}))
    for (const { StackName = '', StackStatus } of page.Stacks ?? [])
      if (StackName !== 'CDKToolkit' && StackStatus !== 'DELETE_COMPLETE') names.push(StackName)
  return names.toSorted()
}

const deployAll = (data: { readonly tableName?: string } = {}) =>
  runPlainCdk(account, { image: image(), args: ['deploy', '--all', '--require-approval', 'never'], data })

describe('npx cdk bootstrap && npx cdk deploy --all', () => {
  let acme: Awaited<ReturnType<Account['createTenant']>>
  let container: string

  it('deploys a service that runs code in its image and serves its page', { timeout: 600_000 }, async () => {
    await runPlainCdk(account, { image: image(), args: ['bootstrap'] })
    await deployAll()
    // No Image stack: the CDK pushes into the repository of its bootstrap stack.
    expect(await stacks()).toEqual(['Data', 'Guard', 'Network', 'Operations', 'Service'].map((part) => `Cellblock-emulated-${part}`))
    await account.adopt()
    acme = await account.createTenant('acme')
    container = await acme.native.createContainer('plain')
    expect((await acme.native.run(container, 'kept = 6 * 7\nprint(kept)')).stdout).toBe('42\n')
    const [sandbox] = await account.table().sandboxes.all()
    expect(sandbox?.image).toMatch(/^\d{12}\.dkr\.ecr\..*\/cdk-.*-container-assets-/)

    const page = await fetch(account.url())
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")])
    const asset = /(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/.exec(await page.text())?.[1]
    expect((await fetch(`${account.url()}${asset}`)).status, `the file ${asset} of the page`).toBe(200)
  })

  it('returns to the rows of an earlier time: npm run restore, the setting, a deployment', { timeout: 600_000 }, async () => {
    const { native } = acme
    const path = '/mnt/data/early.txt'
    await native.run(container, `open("${path}", "w").write("from before")`)
    const [used] = await account.table().sandboxes.all()
    const name = 'cellblock-emulated-restored'
    await restoreTable(account.deployment(), { at: new Date(), name })
    // What went wrong after that time: the container is gone from the table in use.
    const own = account.table()
    await own.containers.remove(acme.id, container)
    expect((await native.call('GET', `/v1/containers/${container}`)).status).toBe(404)
    await deployAll({ tableName: name })
    await account.adopt()
    expect(account.table()).not.toBe(own)
    expect((await account.table().tenants.list()).map(({ name: tenant }) => tenant)).toEqual(['acme'])
    expect(await account.table().sandboxes.get(used?.id ?? ''), 'a sandbox that has lived on').toBeNull()

    const again = await native.run(container, `print(open("${path}").read())`)
    expect(again.stdout).toBe('from before\n')
    expect(again.lost).toEqual([expect.objectContaining({ what: 'variables' })])
    expect((await account.table().sandboxes.all()).map(({ id }) => id)).not.toContain(used?.id)
    // No row names the task of the earlier sandbox any more, so the reconciler stops it.
    const isAlone = async (): Promise<number> => {
      await account.reconcile()
      return (await account.ministack.tasks()).length
    }
    await expect.poll(isAlone, { timeout: 240_000, interval: 2_000 }).toBe(1)
  })

  it('is removed by npx cdk destroy --all, and retains the data', { timeout: 300_000 }, async () => {
    // CloudFormation tags the bucket by the template, and the CDK empties tagged buckets only; the emulator ignores these tags.
    const Tagging = { TagSet: [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }] }
    const { SiteBucket: Bucket } = (await outputsOf(account.deployment(), 'Service')) ?? {}
    await new S3Client({ ...account.sdk, forcePathStyle: true }).send(new PutBucketTaggingCommand({ Bucket, Tagging }))
    await stopSandboxes({ config: account.config(), sdk: account.sdk, progress: () => undefined })
    await runPlainCdk(account, { image: image(), args: ['destroy', '--all', '--force'] })
    expect(await stacks()).toEqual([])
    expect((await account.table().tenants.list()).map(({ name }) => name)).toEqual(['acme'])
  })
})
