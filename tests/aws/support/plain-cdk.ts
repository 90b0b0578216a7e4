import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../../../scripts/aws/deployment.ts'
import { startRegistry } from './start-registry.ts'
import { emulatedSettings, EMULATED_APP, type Account } from './emulated-account.ts'

const CDK = join(PROJECT, 'node_modules', '.bin', 'cdk')

/** Runs the CDK without this project's commands, on its app: `npx cdk …`. Rejects with its output. */
export async function runPlainCdk(
  { ministack: { folder }, environment, sdk }: Account,
  { image, args, data = {} }: { readonly image: string; readonly args: readonly string[]; readonly data?: { readonly tableName?: string } },
): Promise<void> {
  const docker = join(folder, 'docker-for-cdk')
  const script = join(import.meta.dirname, 'docker-for-cdk.ts')
  await writeFile(docker, `#!/bin/sh\nexec "${process.execPath}" --disable-warning=ExperimentalWarning "${script}" "$@"\n`)
  await chmod(docker, 0o700)
  const context = ['--context', `cellblock=${JSON.stringify({ ...(await emulatedSettings({ warm: 0 })), data })}`]
  const app = ['--app', EMULATED_APP, '--output', join(folder, 'plain-cdk'), ...context]
  const registry = await startRegistry(sdk.endpoint)
  const running = promisify(execFile)(CDK, [...args, ...app, '--ci', '--no-notices', '--progress', 'events'], {
    cwd: PROJECT,
    env: {
      ...environment,
      AWS_ENDPOINT_URL_ECR: registry.url,
      CDK_DOCKER: docker,
      CELLBLOCK_LOCAL_IMAGE: image,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      FORCE_COLOR: '0',
    },
    maxBuffer: 64_000_000,
  })
  try {
    await running
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`cdk ${args.join(' ')} failed:\n${stdout.slice(-6_000)}\n${stderr.slice(-6_000)}`, { cause: error })
  } finally {
    await registry.stop()
  }
}
