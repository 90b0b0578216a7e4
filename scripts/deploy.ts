// `npm run deploy`: deploys the service that cdk.json describes into the AWS account of the caller's credentials.
import { deploy } from './aws/deploy.ts'
import { readDeployment } from './aws/deployment.ts'
import { pushImage } from './aws/push-image.ts'
import { ensureSandboxImage } from './sandbox-image.ts'
import { exitOnSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const progress = (line: string): void => console.error(`  ${line}`)

exitOnSignals()
try {
  const deployment = await readDeployment(progress)
  const { outputs } = await deploy(deployment, async (repository) => pushImage(deployment, await ensureSandboxImage(progress), repository))
  console.log(`
✓ Deployed: ${outputs['Url']}

Next:
  npm run cli -- --table ${outputs['TableName']} tenants create NAME
  CELLBLOCK_URL=${outputs['Url']} CELLBLOCK_API_KEY=ck_… npm run example:quickstart
Model keys go into the secret ${outputs['ModelsSecret']}; docs/deploy.md says how, and how to upgrade and remove the service.`)
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
