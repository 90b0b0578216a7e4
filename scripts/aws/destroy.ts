import { join } from 'node:path'
import { SetupError } from '../setup/progress.ts'
import { findAccount, outputsOf } from './account.ts'
import { runCdk, synthesise } from './cdk.ts'
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
  await removeService(deployment)
  if (removesData) await removeData({ ...deployment, removesData, output: join(deployment.output, 'removal') })
}

/** All stacks but the one with the data; what is gone already is left out. */
async function removeService(deployment: Deployment): Promise<void> {
  const siteBucket = (await outputsOf(deployment, 'Service'))?.['SiteBucket']
  if (siteBucket !== undefined) await emptyBucket(deployment, siteBucket)
  for (let attempt = 1; ; attempt++) {
    const present: Part[] = []
    for (const part of deployment.parts) if (part !== 'Data' && (await outputsOf(deployment, part)) !== null) present.push(part)
    if (present.length === 0) return
    await stopSandboxes(deployment)
    try {
      return await removeStacks(deployment, present)
    } catch (error) {
      if (attempt === TRIES || !(error instanceof SetupError)) throw error
      deployment.say('once more: a sandbox may have been started meanwhile')
    }
  }
}

/** First the stack is told that its data may go, then it goes: until then table, buckets and key would outlive it. */
async function removeData(deployment: Deployment): Promise<void> {
  const outputs = await outputsOf(deployment, 'Data')
  if (outputs === null) return
  await synthesise(deployment, ['Data'])
  await runCdk(deployment, 'The protection of the data could not be taken off: the reason is above.', [
    'deploy',
    '--exclusively',
    '--require-approval',
    'never',
    stackName(deployment, 'Data'),
  ])
  for (const name of ['ObjectBucket', 'AccessLogBucket']) {
    const bucket = outputs[name]
    if (bucket === undefined) throw new SetupError(`The Data stack has no output ${name}. Run npm run deploy once, then destroy it again.`)
    await emptyBucket(deployment, bucket)
  }
  await removeStacks(deployment, ['Data'])
}

/** The CDK removes them in the order of who uses whom. */
function removeStacks(deployment: Deployment, parts: readonly Part[]): Promise<void> {
  const names = parts.map((part) => stackName(deployment, part))
  return runCdk(deployment, `${names.join(', ')}: the removal stopped, the reason is above. Run the command again.`, [
    'destroy',
    '--exclusively',
    '--force',
    ...names,
  ])
}
