import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { aptInstall } from './apt.ts'
import { explainFailure, runCommand } from './command.ts'
import type { SetupConfig } from './config.ts'
import { SetupError, type Progress } from './progress.ts'

export interface PythonOptions {
  readonly config: SetupConfig
  readonly mayInstall: boolean
  /** The program that makes the environment; default `python3`. */
  readonly python?: string
  /** Further options of `pip install`. */
  readonly pipOptions?: readonly string[]
}

/**
 * A virtual environment at `folder` with the packages of `requirements`, rebuilt when that file changes. Installs Debian's venv packages if they
 * are missing and this runs as root. Throws SetupError.
 */
export async function ensurePythonPackages(
  { folder, requirements }: { readonly folder: string; readonly requirements: string },
  options: PythonOptions,
  progress: Progress,
): Promise<void> {
  const env = options.config.environment
  const installedList = join(folder, 'installed.txt')
  const [wanted, present] = await Promise.all([readFile(requirements, 'utf8'), readFile(installedList, 'utf8').catch(() => undefined)])
  if (wanted === present) return

  await rm(folder, { recursive: true, force: true })
  const { python = 'python3', pipOptions = [] } = options
  progress(`${python} -m venv`)
  const make = () => runCommand(python, ['-m', 'venv', folder], { env })
  if ((await make()).code !== 0) {
    const canInstall = options.mayInstall && process.getuid?.() === 0 && (await runCommand('apt-get', ['--version'], { env })).code === 0
    if (!canInstall)
      throw new SetupError(
        'python3 cannot create a virtual environment. On Debian or Ubuntu run `sudo apt-get install -y python3-venv`, then the command again.',
      )
    await aptInstall(['python3', 'python3-venv'], env, progress)
    const made = await make()
    if (made.code !== 0) throw explainFailure('python3 cannot create a virtual environment.', made)
  }
  progress('pip install', 60)
  const args = ['install', '--quiet', '--disable-pip-version-check', ...pipOptions, '--requirement', requirements]
  const installed = await runCommand(join(folder, 'bin', 'pip'), args, { env })
  if (installed.code !== 0)
    throw explainFailure(
      'pip could not install the test dependencies. Check that PyPI can be reached and run the command again.',
      installed,
    )
  await copyFile(requirements, installedList)
}
