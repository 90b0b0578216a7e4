import { join } from 'node:path'
import type { SetupConfig } from './config.ts'
import type { Progress } from './progress.ts'
import { ensurePythonPackages } from './python-packages.ts'

/** Path of the Python in a virtual environment with the emulated AWS account, rebuilt when its lock changes. Throws SetupError. */
export async function ensureMiniStack(
  root: string,
  options: { readonly config: SetupConfig; readonly mayInstall: boolean },
  progress: Progress,
): Promise<string> {
  const folder = join(root, '.cellblock', 'ministack-python')
  await ensurePythonPackages({ folder, requirements: join(root, 'tests', 'aws', 'ministack', 'requirements.lock') }, options, progress)
  return join(folder, 'bin', 'python')
}
