// The image that docs/clients.md tells operators of n8n to build, with n8n's client in front of it.
import { resolveOwnPackages } from '../../scripts/setup/own-packages.ts'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { runCommand } from '../../scripts/setup/command.ts'
import { startServer } from '../support/local-server.ts'

/** Null when the tests pass; otherwise why not. */
export async function runN8nImage(): Promise<string | null> {
  const onLine = (line: string): void => void process.stdout.write(`${line}\n`)
  const nothing = { wheels: undefined, wheelhouse: undefined, nltk: undefined }
  const own = await resolveOwnPackages({ name: 'n8n-client-test', debianPackages: ['ripgrep'], ...nothing }, 'standard')
  const image = await ensureSandboxImage(onLine, { variant: 'standard', own })
  const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image } })
  try {
    const env = { ...process.env, CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey }
    const args = ['--test', '--test-force-exit', 'n8n.test.mjs', 'n8n-image.test.mjs']
    const { code } = await runCommand(process.execPath, args, { cwd: import.meta.dirname, env, onLine })
    return code === 0 ? null : `exit code ${code}`
  } finally {
    await server.stop()
  }
}
