import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** The environment without what an outer npm hands down, such as its settings. */
export const withoutNpm = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))

/** Packs a package as its README says: from the root of a clone, with the settings of the clone. */
export async function packPackage(
  name: 'cdk' | 'cli' | 'client',
  folder: string,
): Promise<{ readonly archive: string; readonly paths: readonly string[] }> {
  const { stdout } = await run('npm', ['pack', `./packages/${name}`, '--json', '--pack-destination', folder], {
    cwd: ROOT,
    env: withoutNpm(),
    maxBuffer: 16_000_000,
  })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  return { archive: join(folder, packed.filename), paths: packed.files.map(({ path }) => path) }
}
