import { join } from 'node:path'
import { explainFailure, runCommand } from '../setup/command.ts'
import { PROJECT, type Deployment } from './deployment.ts'

const CDK = join(PROJECT, 'node_modules', 'aws-cdk', 'bin', 'cdk')
/** Lines of the CDK that somebody who waits wants to see. */
const WORTH_SAYING = /^(✅|❌)|: (deploying|destroying)\.\.\./u

/** Runs one CDK command on a deployment. Throws a SetupError with `sentence` and what the CDK printed. */
export async function runCdk(deployment: Deployment, sentence: string, args: readonly string[]): Promise<void> {
  const { app, output, env, context, say } = deployment
  const result = await runCommand(
    process.execPath,
    [CDK, ...args, '--app', app, '--output', output, '--context', `cellblock=${JSON.stringify(context)}`, '--progress', 'events', '--ci'],
    {
      cwd: PROJECT,
      env: { ...env, CDK_DISABLE_CLI_TELEMETRY: 'true', FORCE_COLOR: '0' },
      onLine: (line) => {
        if (WORTH_SAYING.test(line.trim())) say(line.trim())
      },
    },
  )
  if (result.code !== 0) throw explainFailure(sentence, result)
}
