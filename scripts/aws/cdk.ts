import { join } from 'node:path'
import { explainFailure, runCommand } from '../setup/command.ts'
import { PROJECT, type Deployment } from './deployment.ts'

const CDK = join(PROJECT, 'node_modules', 'aws-cdk', 'bin', 'cdk')
/** Lines of the CDK that somebody who waits wants to see. */
const WORTH_SAYING = /^(✅|❌)|: (deploying|destroying)\.\.\./u

/** Runs one CDK command on the deployment's source. Throws a SetupError with `sentence` and what the CDK printed. */
export const runCdk = (deployment: Deployment, sentence: string, args: readonly string[]): Promise<void> => {
  const { app, output, context } = deployment
  return run(deployment, sentence, [...args, '--app', app, '--output', output, '--context', `cellblock=${JSON.stringify(context)}`])
}

/** Writes every template and bundle once, so that the commands that follow need not. */
export const synthesise = (deployment: Deployment): Promise<void> =>
  runCdk(deployment, 'The templates could not be made: the reason is above.', ['synth', '--all', '--quiet'])

/** The same on what `synthesise` has written. */
export const runCdkOnTemplates = (deployment: Deployment, sentence: string, args: readonly string[]): Promise<void> =>
  run(deployment, sentence, [...args, '--app', deployment.output])

async function run({ env, say }: Deployment, sentence: string, args: readonly string[]): Promise<void> {
  const result = await runCommand(process.execPath, [CDK, ...args, '--progress', 'events', '--ci'], {
    cwd: PROJECT,
    env: { ...env, CDK_DISABLE_CLI_TELEMETRY: 'true', FORCE_COLOR: '0' },
    onLine: (line) => {
      if (WORTH_SAYING.test(line.trim())) say(line.trim())
    },
  })
  if (result.code !== 0) throw explainFailure(sentence, result)
}
