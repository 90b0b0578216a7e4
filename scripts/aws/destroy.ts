import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf } from './account.ts'
import { runCdk } from './cdk.ts'
import { emptyBucket } from './empty-bucket.ts'
import { stackName, type Deployment, type Part } from './deployment.ts'
import { stopSandboxes } from './stop-sandboxes.ts'

/** The pool is refilled until its function is gone, so a removal may meet a sandbox that has just started. */
const TRIES = 3

/**
 * Removes everything that costs money without being used. With `removesData` also table, objects, keys and secrets; the table's backups live on
 * as long as they were configured to. Repeating it is no error.
 */
export async function destroy(deployment: Deployment, { removesData }: { readonly removesData: boolean }): Promise<void> {
  await findAccount(deployment)
  for (const part of deployment.parts.toReversed()) {
    const outputs = part === 'Data' && !removesData ? null : await outputsOf(deployment, part)
    if (outputs === null) continue
    if (part === 'Service') await removeService(deployment, outputs)
    else if (part === 'Data') await removeData(deployment, outputs)
    else await removeStack(deployment, part)
  }
}

async function removeService(deployment: Deployment, outputs: Readonly<Record<string, string>>): Promise<void> {
  const { SiteBucket } = outputs
  if (SiteBucket !== undefined) await emptyBucket(deployment, SiteBucket)
  for (let attempt = 1; ; attempt++) {
    await stopSandboxes(deployment)
    try {
      return await removeStack(deployment, 'Service')
    } catch (error) {
      if (attempt === TRIES || !(error instanceof SetupError)) throw error
      deployment.say('a sandbox was started meanwhile: once more')
    }
  }
}

/** First the stack is told that its data may go, then it goes: until then table, buckets and key would outlive it. */
async function removeData(deployment: Deployment, outputs: Readonly<Record<string, string>>): Promise<void> {
  await runCdk(deployment, 'The protection of the data could not be taken off: the reason is above.', [
    'deploy',
    '--exclusively',
    '--require-approval',
    'never',
    '--context',
    'cellblock-removes-data=true',
    stackName(deployment, 'Data'),
  ])
  for (const name of ['ObjectBucket', 'AccessLogBucket']) {
    const bucket = outputs[name]
    if (bucket === undefined) throw new SetupError(`The Data stack has no output ${name}. Run npm run deploy once, then destroy it again.`)
    await emptyBucket(deployment, bucket)
  }
  await removeStack(deployment, 'Data', ['--context', 'cellblock-removes-data=true'])
}

const removeStack = (deployment: Deployment, part: Part, more: readonly string[] = []): Promise<void> =>
  runCdk(deployment, `The stack ${stackName(deployment, part)} could not be removed: the reason is above. Run the command again.`, [
    'destroy',
    '--exclusively',
    '--force',
    ...more,
    stackName(deployment, part),
  ])
