import { explainFailure, runCommand } from './command.ts'
import { terminalConsent } from './install-consent.ts'
import type { Progress } from './progress.ts'

/** Installs Debian packages after the user's consent; waits while another apt holds the lock. Throws SetupError. */
export async function aptInstall(packages: readonly string[], env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  await terminalConsent.confirm(packages)
  const noninteractive = { ...env, DEBIAN_FRONTEND: 'noninteractive' }
  const retryOptions = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', ...packages],
  ]) {
    progress(`apt-get ${args.join(' ')}`, args[0] === 'update' ? 10 : 40)
    const result = await runCommand('apt-get', [...retryOptions, ...args], { env: noninteractive })
    // An unreachable third-party source fails the update although the install may work.
    if (result.code !== 0 && args[0] === 'install')
      throw explainFailure(`apt-get could not install ${packages.join(' ')}. Install them yourself and run the command again.`, result)
  }
}
