import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { LocalServerProcess } from './local-server.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

/** Creates a tenant on a running server with the CLI of the server's copy of the code. Returns its API key. */
export async function createTenant(server: LocalServerProcess, name: string, root = ROOT): Promise<string> {
  const { port } = new URL(server.url)
  const args = ['--disable-warning=ExperimentalWarning', join(root, 'scripts/cli/main.ts'), 'tenants', 'create', name, '--json']
  const { stdout } = await run(process.execPath, args, { cwd: root, env: { ...process.env, PORT: port } })
  const key = /ck_[\w-]+/.exec(stdout)?.[0]
  if (key === undefined) throw new Error(`No key was printed: ${stdout}`)
  return key
}
