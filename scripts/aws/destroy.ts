import { join } from 'node:path'
import { SetupError } from '../setup/progress.ts'
import { findAccount, hasFailedDeletion, outputsOf } from './account.ts'
import { runCdk, synthesise } from './cdk.ts'
import { emptyBucket } from './empty-bucket.ts'
import { stackName, type Deployment, type StackId } from './deployment.ts'
import { stopSandboxes } from './stop-sandboxes.ts'

/**
 * The warm pool is refilled until its function is deleted, so a deletion may find a sandbox that has just started; S3 may deliver an access log into a
 * bucket that was emptied.
 */
const MAX_ATTEMPTS = 3

/**
 * Deletes everything that costs money while unused. With `removesData` also table, objects, keys and secrets; the table's backups remain for
 * their configured time. Idempotent.
 */
export async function destroy(deployment: Deployment, { removesData }: { readonly removesData: boolean }): Promise<void> {
  await findAccount(deployment)
  await removeService(deployment)
  if (removesData) await removeData({ ...deployment, removesData, output: join(deployment.output, 'removal') })
}

/** Deletes all existing stacks except Data. */
async function removeService(deployment: Deployment): Promise<void> {
  const siteBucket = (await outputsOf(deployment, 'Service'))?.['SiteBucket']
  if (siteBucket !== undefined) await emptyBucket(deployment, siteBucket)
  await retried(deployment, 'a sandbox may have started meanwhile', async () => {
    const present: StackId[] = []
    for (const stack of deployment.stacks) if (stack !== 'Data' && (await outputsOf(deployment, stack)) !== null) present.push(stack)
    if (present.length === 0) return
    await stopSandboxes(deployment)
    await removeStacks(deployment, present)
  })
}

/**
 * Removes the stack's deletion protection first: without that, table, buckets and key would be retained. After a deletion that failed, CloudFormation
 * takes nothing but another deletion.
 */
async function removeData(deployment: Deployment): Promise<void> {
  const outputs = await outputsOf(deployment, 'Data')
  if (outputs === null) return
  await synthesise(deployment, ['Data'])
  if (!(await hasFailedDeletion(deployment, 'Data')))
    await runCdk(deployment, 'The deletion protection of the data could not be removed: the reason is above.', [
      'deploy',
      '--exclusively',
      '--require-approval',
      'never',
      stackName(deployment, 'Data'),
    ])
  await retried(deployment, 'access logs may have arrived meanwhile', async () => {
    for (const name of ['ObjectBucket', 'AccessLogBucket']) {
      const bucket = outputs[name]
      if (bucket === undefined)
        throw new SetupError(`The Data stack has no output ${name}. Run npm run deploy once, then destroy it again.`)
      await emptyBucket(deployment, bucket)
    }
    await removeStacks(deployment, ['Data'])
  })
}

/** Tries again what CloudFormation refused for a reason that passes. Throws the last SetupError. */
async function retried(deployment: Deployment, reason: string, remove: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await remove()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(error instanceof SetupError)) throw error
      deployment.progress(`retrying: ${reason}`)
    }
}

/** The CDK deletes stacks in the order of their dependencies. */
function removeStacks(deployment: Deployment, stacks: readonly StackId[]): Promise<void> {
  const names = stacks.map((stack) => stackName(deployment, stack))
  return runCdk(deployment, `${names.join(', ')}: the deletion failed, the reason is above. Run the command again.`, [
    'destroy',
    '--exclusively',
    '--force',
    ...names,
  ])
}
