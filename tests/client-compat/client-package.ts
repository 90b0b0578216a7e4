// The package of our TypeScript client, checked by publint and "Are the types wrong?" as a registry would serve it.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packPackage } from '../support/pack-package.ts'

const run = promisify(execFile)
const BIN = join(import.meta.dirname, 'node_modules/.bin')

/** The package has ES modules only, for Node 20.19 and later. */
const CHECKS = [
  { name: 'publint', covers: 'files and exports of the package', args: (file: string) => ['run', file, '--strict'] },
  { name: 'attw', covers: 'types of the package', args: (file: string) => [file, '--profile', 'esm-only'] },
]

/** Returns the rows of the pass table. A row starts with `FAILED` when the check finds a problem. */
export async function checkClientPackage(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-client-package-'))
  try {
    const { archive } = await packPackage('client', folder)
    const rows: string[] = []
    for (const { name, covers, args } of CHECKS) {
      const found = await run(join(BIN, name), args(archive), { cwd: folder }).then(
        () => null,
        (error: { readonly stdout?: string; readonly message: string }) => error.stdout ?? error.message,
      )
      rows.push(found === null ? covers : `FAILED ${covers}: ${found}`)
    }
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
