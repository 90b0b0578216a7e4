import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFailure, runWithRetries } from './command.ts'
import type { Lockfile } from '../lockfile.ts'
import { leftText } from '../progress/time-left.ts'
import type { SetupConfig } from './config.ts'
import type { Progress } from './progress.ts'

/** Time-outs of npm's attempts, seconds: npm can hang, and the last attempt allows for slow networks. */
const NPM_TIMEOUTS_SECONDS = [600, 3600] as const
/** On a typical machine and network. */
const SECONDS_PER_PACKAGE = 0.1
const COUNT_MS = 10_000

/** Installs what package-lock.json locks. Runs `npm ci` only if npm's record of the installed packages differs. */
export async function ensureDependencies(root: string, config: SetupConfig, progress: Progress): Promise<string> {
  const wanted = await readLockfile(join(root, 'package-lock.json'))
  if (wanted === undefined) throw new Error('package-lock.json is missing or is not JSON')
  const isCurrent = async (): Promise<boolean> => {
    const installed = await readLockfile(join(root, 'node_modules', '.package-lock.json'))
    return installed !== undefined && matches(wanted, installed)
  }
  const count = `${Object.keys(wanted.packages).length - 1} packages as locked`
  if (await isCurrent()) return count

  progress(`npm ci, once: ${count.replace(' as locked', '')}`, Object.keys(wanted.packages).length * SECONDS_PER_PACKAGE)
  // No package needs its install scripts, and a script of a compromised package could do anything.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const [program, first] = config.npmCli?.endsWith('.js') ? [process.execPath, [config.npmCli]] : ['npm', []]
  const options = { cwd: root, env: config.environment, onTimeout: () => progress('npm hangs: starting it again') }
  const stopCounting = countInstalled(root, wanted, progress)
  const result = await runWithRetries(program, [...first, ...args], { timeoutsSeconds: NPM_TIMEOUTS_SECONDS, ...options }).finally(
    stopCounting,
  )
  if (result.code !== 0)
    throw explainFailure(
      'npm could not install the dependencies. Check that the npm registry can be reached (npm ping) and run the command again.',
      result,
    )
  return count
}

/** npm itself reports nothing: the packages on the disk show how far it is. */
function countInstalled(root: string, wanted: Lockfile, progress: Progress): () => void {
  const startedAt = performance.now()
  const files = Object.keys(wanted.packages).flatMap((path) => (path === '' ? [] : [join(root, path, 'package.json')]))
  const timer = setInterval(() => {
    const present = files.filter((file) => existsSync(file)).length
    const elapsed = (performance.now() - startedAt) / 1000
    // npm downloads before it writes: the first packages say nothing about the rest.
    const projected = present < files.length / 10 ? 0 : (elapsed * files.length) / present
    const expected = Math.max(files.length * SECONDS_PER_PACKAGE, projected)
    progress(`${present} of ${files.length} packages, ${leftText(expected, elapsed)}`)
  }, COUNT_MS)
  return () => clearInterval(timer)
}

/** Optional packages may belong to other platforms; every other package must be installed in its locked version. */
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
