import { join } from 'node:path'
import type { SetupConfig } from './config.ts'
import type { Progress } from './progress.ts'
import { ensurePythonPackages } from './python-packages.ts'

/** Path of cfn-lint in a virtual environment, rebuilt when its lock changes. Throws SetupError. */
export async function ensureCfnLint(
  root: string,
  options: { readonly config: SetupConfig; readonly mayInstall: boolean },
  progress: Progress,
): Promise<string> {
  const folder = join(root, '.cellblock', 'cfn-lint-python')
  await ensurePythonPackages({ folder, requirements: join(root, 'tests', 'infra', 'cfn-lint', 'requirements.lock') }, options, progress)
  return join(folder, 'bin', 'cfn-lint')
}
