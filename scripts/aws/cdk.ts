import { join } from 'node:path'
import { explainFailure, runCommand } from '../setup/command.ts'
import { PROJECT, stackName, type Deployment, type StackId } from './deployment.ts'

const CDK = join(PROJECT, 'node_modules', 'aws-cdk', 'bin', 'cdk')
/** Lines of the CDK's output that show progress. */
const SHOWN_LINES = /^(✅|❌)|: (deploying|destroying)\.\.\./u

/** Deployments whose output folder holds templates and bundles. */
const synthesised = new WeakSet<Deployment>()

/** Writes templates and bundles of the named stacks (default: all) once; later commands reuse them. */
export async function synthesise(deployment: Deployment, only?: readonly StackId[]): Promise<void> {
  if (synthesised.has(deployment)) return
  const stacks = only === undefined ? ['--all'] : ['--exclusively', ...only.map((stack) => stackName(deployment, stack))]
  await runCdk(deployment, 'Synthesis of the templates failed: the reason is above.', ['synth', '--quiet', ...stacks])
  synthesised.add(deployment)
}

/** Runs a CDK command on synthesised output, else on the app's source. Throws a SetupError with the CDK's output and `sentence`. */
export async function runCdk(deployment: Deployment, sentence: string, args: readonly string[]): Promise<void> {
  const { app, output, context, removesData = false, env, progress } = deployment
  const fromSource = [
    '--app',
    app,
    '--output',
    output,
    '--context',
    `cellblock=${JSON.stringify(context)}`,
    '--context',
    'cellblock-images=pushed',
  ]
  const source = synthesised.has(deployment)
    ? ['--app', output]
    : [...fromSource, ...(removesData ? ['--context', 'cellblock-removes-data=true'] : [])]
  const result = await runCommand(process.execPath, [CDK, ...args, ...source, '--progress', 'events', '--ci', '--no-notices'], {
    cwd: PROJECT,
    env: { ...env, CDK_DISABLE_CLI_TELEMETRY: 'true', FORCE_COLOR: '0' },
    onLine: (line) => {
      if (SHOWN_LINES.test(line.trim())) progress(line.trim())
    },
  })
  if (result.code !== 0) throw explainFailure(sentence, result)
}
