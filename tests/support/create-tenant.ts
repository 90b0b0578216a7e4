import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { LocalServerProcess } from './local-server.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

/** Creates a tenant on a running server with the CLI of the server's copy of the code. Returns its API key. */
export async function createTenant(server: Pick<LocalServerProcess, 'url'>, name: string, root = ROOT): Promise<string> {
  return (await administer(server, ['tenants', 'create', name], root)).api_key
}

/** A key of a new tenant with every scope. */
export async function createAdminKey(server: LocalServerProcess): Promise<string> {
  const { id } = await administer(server, ['tenants', 'create', 'operators', '--no-key'], ROOT)
  return (await administer(server, ['keys', 'create', id, '--scopes', 'run,read,files,share,secrets,admin'], ROOT)).api_key
}

async function administer(
  server: Pick<LocalServerProcess, 'url'>,
  args: readonly string[],
  root: string,
): Promise<{ readonly id: string; readonly api_key: string }> {
  const argv = ['--disable-warning=ExperimentalWarning', join(root, 'scripts/cli/main.ts'), ...args, '--json']
  const { stdout } = await run(process.execPath, argv, { cwd: root, env: { ...process.env, PORT: new URL(server.url).port } })
  return JSON.parse(stdout) as { id: string; api_key: string }
}
