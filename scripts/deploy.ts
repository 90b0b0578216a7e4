// `npm run deploy`: deploys the service that cdk.json describes into the AWS account of the caller's credentials.
import { DEFAULT_LIMITS } from '../services/model/tenants/tenant-limits.ts'
import { deploy } from './aws/deploy.ts'
import { readDeployment } from './aws/deployment.ts'
import { pushImage } from './aws/push-image.ts'
import { readOptions } from './read-options.ts'
import { ensureSandboxImage } from './setup/sandbox-image.ts'
import { exitOnSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const progress = (line: string): void => console.error(`  ${line}`)

exitOnSignals()
readOptions('deploy', {})
try {
  const deployment = await readDeployment(progress)
  const { monthlyBudgetUsd } = deployment.config.operations
  const { outputs, adminKey } = await deploy(deployment, async (repository) => {
    if (deployment.config.deployment.imageBuilder === 'codebuild') return
    for (const variant of deployment.config.sandboxes.images)
      await pushImage(deployment, await ensureSandboxImage(progress, { variant }), repository)
  })
  console.log(`
✓ Deployed: ${outputs['Url']} (the page: sign in with an API key)
${adminKey === null ? '' : `\nFirst admin key, shown only now: ${adminKey}\nIt manages tenants, keys and plans: the admin view of the page, /v1/admin, and \`cellblock tenants\`.\n`}
Budgets: AWS notifies at ${monthlyBudgetUsd} US dollars a month and stops nothing. A tenant stops at ${DEFAULT_LIMITS.dollarsPerDay} a day, ${30 * DEFAULT_LIMITS.dollarsPerDay} a month, unless a plan says otherwise (docs/tenancy.md).
${monthlyBudgetUsd < 30 * DEFAULT_LIMITS.dollarsPerDay ? 'One tenant alone can exceed the monthly budget: lower dollars_per_day in a plan.\n' : ''}
Next:
  npm run cli -- --table ${outputs['TableName']} tenants create NAME
  CELLBLOCK_URL=${outputs['Url']} CELLBLOCK_API_KEY=ck_… npm run example:quickstart
Model keys go into the secret ${outputs['ModelsSecret']}; docs/deploy.md says how, and how to upgrade and remove the service.`)
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
