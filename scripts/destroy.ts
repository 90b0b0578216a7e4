// `npm run destroy`: removes the service from the AWS account. Data stays, unless `-- --remove-data` is given with the name of the stage.
import { parseArgs } from 'node:util'
import { ownDeployment } from './aws/deployment.ts'
import { destroy } from './aws/destroy.ts'
import { endWithSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const say = (line: string): void => console.error(`  ${line}`)

endWithSignals()
try {
  const { values } = parseArgs({ options: { 'remove-data': { type: 'string' } } })
  const deployment = await ownDeployment(say)
  const { stage, retention } = deployment.config
  const named = values['remove-data']
  if (named !== undefined && named !== stage)
    throw new SetupError(
      `--remove-data takes the name of the stage whose data goes for good, and cdk.json says "${stage}", not "${named}".`,
    )
  await destroy(deployment, { removesData: named !== undefined })
  console.log(
    named === undefined
      ? `\n✓ Removed. Table, objects, access logs, key and model keys of "${stage}" are kept and cost what they store.
  npm run destroy -- --remove-data ${stage} removes them too, for good.`
      : `\n✓ Removed with all data. Backups of the table live on for up to ${retention.backupDays} days, and the CDK's own stack CDKToolkit stays: others may use it.`,
  )
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
