import { join } from 'node:path'
import { explainFailure, runCommand } from '../setup/command.ts'
import { PROJECT, stackName, type Deployment, type Part } from './deployment.ts'

const CDK = join(PROJECT, 'node_modules', 'aws-cdk', 'bin', 'cdk')
/** Lines of the CDK that somebody who waits wants to see. */
const WORTH_SAYING = /^(✅|❌)|: (deploying|destroying)\.\.\./u

/** Deployments whose templates and bundles lie in their output. */
const synthesised = new WeakSet<Deployment>()

/** Writes every template and bundle of `parts` (all of them when left out) once, so that the commands that follow need not. */
export async function synthesise(deployment: Deployment, parts?: readonly Part[]): Promise<void> {
  if (synthesised.has(deployment)) return
  const stacks = parts === undefined ? ['--all'] : ['--exclusively', ...parts.map((part) => stackName(deployment, part))]
  await runCdk(deployment, 'The templates could not be made: the reason is above.', ['synth', '--quiet', ...stacks])
  synthesised.add(deployment)
}

/** Runs one CDK command on what `synthesise` has written, else on the deployment's source. Throws a SetupError with `sentence` and what the CDK printed. */
export async function runCdk(deployment: Deployment, sentence: string, args: readonly string[]): Promise<void> {
  const { app, output, context, removesData = false, env, say } = deployment
  const fromSource = ['--app', app, '--output', output, '--context', `cellblock=${JSON.stringify(context)}`]
  const source = synthesised.has(deployment)
    ? ['--app', output]
    : removesData
      ? [...fromSource, '--context', 'cellblock-removes-data=true']
      : fromSource
  const result = await runCommand(process.execPath, [CDK, ...args, ...source, '--progress', 'events', '--ci', '--no-notices'], {
    cwd: PROJECT,
    env: { ...env, CDK_DISABLE_CLI_TELEMETRY: 'true', FORCE_COLOR: '0' },
    onLine: (line) => {
      if (WORTH_SAYING.test(line.trim())) say(line.trim())
    },
  })
  if (result.code !== 0) throw explainFailure(sentence, result)
}
