// `npm run destroy`: removes the service from the AWS account. `-- --remove-data STAGE` also deletes the data.
import { readDeployment } from './aws/deployment.ts'
import { destroy } from './aws/destroy.ts'
import { readOptions } from './read-options.ts'
import { exitOnSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const progress = (line: string): void => console.error(`  ${line}`)

exitOnSignals()
try {
  const values = readOptions('destroy', { 'remove-data': { type: 'string' } })
  const deployment = await readDeployment(progress)
  const { stage, retention } = deployment.config
  const confirmedStage = values['remove-data']
  if (confirmedStage !== undefined && confirmedStage !== stage)
    throw new SetupError(`--remove-data deletes the data of a stage and needs its name: cdk.json says "${stage}", not "${confirmedStage}".`)
  await destroy(deployment, { removesData: confirmedStage !== undefined })
  console.log(
    confirmedStage === undefined
      ? `\n✓ Removed. Table, objects, access logs, key and model keys of "${stage}" are retained and billed as storage.
  npm run destroy -- --remove-data ${stage} deletes them permanently.`
      : `\n✓ Removed with all data. Backups of the table remain for up to ${retention.backupDays} days. The CDK's stack CDKToolkit stays, because other apps may use it.`,
  )
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
