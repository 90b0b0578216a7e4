import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf } from './account.ts'
import { runCdk, synthesise } from './cdk.ts'
import { stackName, type Deployment, type Part } from './deployment.ts'

export interface Deployed {
  /** Of the stacks Data and Service, by the name of the output. */
  readonly outputs: Readonly<Record<string, string>>
}

/**
 * Makes, or brings up to date, the whole service: the CDK's own stack when it is missing, what outlives a deployment, the image, everything
 * else, and what browsers load. Repeating it changes nothing. `publish` brings the sandbox image into the repository of that URI.
 */
export async function deploy(deployment: Deployment, publish: (repository: string) => Promise<void>): Promise<Deployed> {
  const { region, isBootstrapped } = await findAccount(deployment)
  await synthesise(deployment)
  if (!isBootstrapped) {
    deployment.say(`preparing the account for the CDK in ${region}`)
    await runCdk(deployment, 'The account could not be prepared for the CDK: the reason is above.', ['bootstrap'])
  }
  await deployParts(deployment, ['Data', 'Image'])
  await publish(need(await outputsOf(deployment, 'Image'), 'RepositoryUri'))
  await deployParts(deployment, deployment.parts)
  const service = await outputsOf(deployment, 'Service')
  await publishSite(deployment, need(service, 'SiteBucket'))
  return { outputs: { ...(await outputsOf(deployment, 'Data')), ...service } }
}

/** A stack that has not changed is left alone. */
const deployParts = (deployment: Deployment, parts: readonly Part[]): Promise<void> =>
  runCdk(
    deployment,
    'The deployment stopped: the reason is above. CloudFormation has taken back what it had begun. Mend it and run the command again.',
    ['deploy', '--exclusively', '--require-approval', 'never', '--concurrency', '3', ...parts.map((part) => stackName(deployment, part))],
  )

/** The script of the API reference: too big for a function's bundle. */
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

function need(outputs: Readonly<Record<string, string>> | null, name: string): string {
  const value = outputs?.[name]
  if (value === undefined) throw new SetupError(`The deployment has no output ${name}: it was made by another version. Deploy it anew.`)
  return value
}
