import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { readFile } from 'node:fs/promises'
import { PAGE_PREFIX } from '../../services/http/origin/config.ts'
import { pageContentType } from '../../services/http/page/page-content-type.ts'
import { NO_OBJECTS } from '../cli/rows-only.ts'
import { ensureAdminKey } from '../../services/operations/tenancy/first-keys.ts'
import { createDynamoTable } from '../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf, protectStack } from './account.ts'
import { runCdk, synthesise } from './cdk.ts'
import { preflight } from './preflight.ts'
import { ensureEcsServiceLinkedRole } from './service-linked-role.ts'
import { stackName, type Deployment, type StackId } from './deployment.ts'
import { siteFiles } from '../../infra/build/site-files.ts'

export interface Deployed {
  /** Outputs of the stacks Data and Service by name. */
  readonly outputs: Readonly<Record<string, string>>
  /** The first key with the scope `admin`, in clear text; null when one exists. */
  readonly adminKey: string | null
}

/**
 * Checks the account, and creates or updates the whole service: the CDK's bootstrap stack if it is missing, the data, the image, the other stacks, the browser
 * scripts, and the first admin key. Idempotent. `publish` pushes the sandbox image into the repository of that URI.
 */
export async function deploy(wanted: Deployment, publish: (repository: string) => Promise<void>): Promise<Deployed> {
  const account = await findAccount(wanted)
  const { region, isBootstrapped } = account
  const deployment = await preflight(wanted, account)
  await ensureEcsServiceLinkedRole(deployment)
  await synthesise(deployment)
  if (!isBootstrapped) {
    deployment.progress(`bootstrapping the account for the CDK in ${region}`)
    await runCdk(deployment, 'The CDK could not bootstrap the account: the reason is above.', ['bootstrap'])
  }
  await deployStacks(deployment, ['Data', 'Image'])
  await publish(requireOutput(await outputsOf(deployment, 'Image'), 'RepositoryUri'))
  await deployStacks(deployment, deployment.stacks)
  await protectStack(deployment, 'Data')
  const service = await outputsOf(deployment, 'Service')
  await publishSite(deployment, requireOutput(service, 'SiteBucket'))
  const outputs = { ...(await outputsOf(deployment, 'Data')), ...service }
  return { outputs, adminKey: await createAdminKey(deployment, requireOutput(outputs, 'TableName')) }
}

async function createAdminKey({ sdk }: Deployment, tableName: string): Promise<string | null> {
  const client = new DynamoDBClient(sdk)
  try {
    return await ensureAdminKey(createDynamoTable({ client, tableName, objects: NO_OBJECTS }).tenants, null, Date.now())
  } finally {
    client.destroy()
  }
}

/** The CDK skips a stack that has not changed. */
const deployStacks = (deployment: Deployment, stacks: readonly StackId[]): Promise<void> =>
  runCdk(
    deployment,
    'The deployment failed: the reason is above. CloudFormation has rolled it back. Fix the cause and run the command again.',
    [
      'deploy',
      '--exclusively',
      '--require-approval',
      'never',
      '--concurrency',
      '3',
      ...stacks.map((stack) => stackName(deployment, stack)),
    ],
  )

async function publishSite({ sdk, progress }: Deployment, bucket: string): Promise<void> {
  const s3 = new S3Client({ ...sdk, forcePathStyle: sdk.endpoint !== undefined })
  for (const { key, path } of await siteFiles(progress))
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: await readFile(path), ...contentOf(key) }))
}

const contentOf = (key: string): { readonly ContentType: string; readonly CacheControl?: string } =>
  key.startsWith(PAGE_PREFIX)
    ? { ContentType: pageContentType(key.slice(PAGE_PREFIX.length)) }
    : { ContentType: 'text/javascript; charset=utf-8', CacheControl: 'public, max-age=3600' }

function requireOutput(outputs: Readonly<Record<string, string>> | null, name: string): string {
  const value = outputs?.[name]
  if (value === undefined)
    throw new SetupError(`The deployment has no output ${name}: another version made it. Redeploy with npm run deploy.`)
  return value
}
