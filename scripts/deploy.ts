// `npm run deploy`: the whole service into the AWS account of the caller's credentials, as cdk.json describes it.
import { deploy } from './aws/deploy.ts'
import { ownDeployment } from './aws/deployment.ts'
import { pushImage } from './aws/push-image.ts'
import { ensureSandboxImage } from './sandbox-image.ts'
import { endWithSignals } from './setup/command.ts'
import { SetupError } from './setup/progress.ts'

const say = (line: string): void => console.error(`  ${line}`)

endWithSignals()
try {
  const deployment = await ownDeployment(say)
  const { outputs } = await deploy(deployment, async (repository) => pushImage(deployment, await ensureSandboxImage(say), repository))
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
