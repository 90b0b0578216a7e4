// `npm run restore`: makes a table with the rows of an earlier time from the backups of the deployment. `docs/deploy.md` has the whole procedure.
import { readDeployment } from './aws/deployment.ts'
import { restoreTable } from './aws/restore-table.ts'
import { readOptions, refuseOption } from './read-options.ts'
import { exitOnSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const progress = (line: string): void => console.error(`  ${line}`)

/** Throws SetupError for a time without a zone, or in the future. */
function timeOf(text: string): Date {
  const at = new Date(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(at.getTime()) || at.getTime() > Date.now())
    throw new SetupError(`--at needs a time in the past with its zone, such as 2026-11-20T12:00:00Z, not "${text}".`)
  return at
}

exitOnSignals()
try {
  const values = readOptions('restore', { at: { type: 'string' }, latest: { type: 'boolean' }, name: { type: 'string' } })
  if ((values.at === undefined) === (values.latest !== true)) refuseOption('restore', 'Give either --at or --latest.')
  const deployment = await readDeployment(progress)
  const { stage } = deployment.config
  const name = values.name ?? `cellblock-${stage}-restored-${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 12)}`
  await restoreTable(deployment, { at: values.at === undefined ? null : timeOf(values.at), name })
  console.log(`
✓ Restored as ${name}. The service does not use it yet. Look into it, then add to the settings in cdk.json
  "data": { "tableName": "${name}" }
and run npm run deploy. Without the setting, another npm run deploy returns to the table of the Data stack.`)
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
