import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFailure, runPatiently } from './command.ts'
import type { Lockfile } from '../lockfile.ts'
import type { SetupConfig } from './config.ts'
import type { Progress } from './progress.ts'

/** How long each try of npm may take, seconds: it has been seen to stand still, and the last try is for slow networks. */
const NPM_PATIENCE = [600, 3600] as const

/** Makes node_modules what package-lock.json says. `npm ci` runs only when npm's own record of what is there differs. */
export async function ensureDependencies(root: string, config: SetupConfig, progress: Progress): Promise<string> {
  const wanted = await readLockfile(join(root, 'package-lock.json'))
  if (wanted === undefined) throw new Error('package-lock.json is missing or is not JSON')
  const isCurrent = async (): Promise<boolean> => {
    const installed = await readLockfile(join(root, 'node_modules', '.package-lock.json'))
    return installed !== undefined && matches(wanted, installed)
  }
  const count = `${Object.keys(wanted.packages).length - 1} packages as locked`
  if (await isCurrent()) return count

  progress('npm ci')
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const [program, first] = config.npmCli?.endsWith('.js') ? [process.execPath, [config.npmCli]] : ['npm', []]
  const options = { cwd: root, env: config.environment, onLate: () => progress('npm stands still: once more') }
  const result = await runPatiently(program, [...first, ...args], NPM_PATIENCE, options)
  if (result.code !== 0)
    throw explainFailure(
      'npm could not install the dependencies. Check that the npm registry can be reached (npm ping) and run the command again.',
      result,
    )
  return count
}

/** Optional packages belong to other platforms; every other one has to be there in the locked version. */
export function matches(wanted: Lockfile, installed: Lockfile): boolean {
  return Object.entries(wanted.packages).every(
    ([path, { version, optional }]) => path === '' || optional === true || installed.packages[path]?.version === version,
  )
}

async function readLockfile(path: string): Promise<Lockfile | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof parsed === 'object' && parsed !== null && 'packages' in parsed ? (parsed as Lockfile) : undefined
  } catch {
    return undefined
  }
}
