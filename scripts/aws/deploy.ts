import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf, protectStack } from './account.ts'
import { runCdk, synthesise } from './cdk.ts'
import { ensureEcsServiceLinkedRole } from './service-linked-role.ts'
import { stackName, type Deployment, type StackId } from './deployment.ts'

export interface Deployed {
  /** Outputs of the stacks Data and Service by name. */
  readonly outputs: Readonly<Record<string, string>>
}

/**
 * Creates or updates the whole service: the CDK's bootstrap stack if it is missing, the data, the image, the other stacks, and the browser
 * scripts. Idempotent. `publish` pushes the sandbox image into the repository of that URI.
 */
export async function deploy(deployment: Deployment, publish: (repository: string) => Promise<void>): Promise<Deployed> {
  const { region, isBootstrapped } = await findAccount(deployment)
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
  return { outputs: { ...(await outputsOf(deployment, 'Data')), ...service } }
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

/** Uploads the script of the API reference, which is too large for a function bundle. */
async function publishSite({ sdk }: Deployment, bucket: string): Promise<void> {
  const file = fileURLToPath(new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference')))
  await new S3Client({ ...sdk, forcePathStyle: sdk.endpoint !== undefined }).send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: 'docs/reference.js',
      Body: await readFile(file),
      ContentType: 'text/javascript; charset=utf-8',
      CacheControl: 'public, max-age=3600',
    }),
  )
}

function requireOutput(outputs: Readonly<Record<string, string>> | null, name: string): string {
  const value = outputs?.[name]
  if (value === undefined)
    throw new SetupError(`The deployment has no output ${name}: another version made it. Redeploy with npm run deploy.`)
  return value
}
