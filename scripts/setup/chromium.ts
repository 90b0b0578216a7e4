import { aptInstall } from './apt.ts'
import { runCommand } from './command.ts'
import type { SetupConfig } from './config.ts'
import { SetupError, type Progress } from './progress.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const

/** The path of a Chromium for the browser tests. Installs Debian's package if there is none and this runs as root. Throws SetupError. */
export async function ensureChromium(
  { config, mayInstall }: { readonly config: SetupConfig; readonly mayInstall: boolean },
  progress: Progress,
): Promise<string> {
  const env = config.environment
  const found = await findChromium(env)
  if (found !== null) return found
  const canInstall = mayInstall && process.getuid?.() === 0 && (await runCommand('apt-get', ['--version'], { env })).code === 0
  if (canInstall) {
    await aptInstall(['chromium', 'fonts-liberation'], env, progress)
    const installed = await findChromium(env)
    if (installed !== null) return installed
  }
  throw new SetupError(
    'The browser tests need Chromium, and none was found. On Debian or Ubuntu run `sudo apt-get install -y chromium`, then the command again.',
  )
}

async function findChromium(env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const name of NAMES) {
    const { code, stdout } = await runCommand('sh', ['-c', `command -v ${name}`], { env })
    if (code === 0 && stdout.trim() !== '') return stdout.trim()
  }
  return null
}
