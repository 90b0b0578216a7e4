import { randomUUID } from 'node:crypto'
import { runCommand, type CommandResult } from '../../scripts/setup/command.ts'

/** The container options of a Docker sandbox, as flags. */
const LOCKED = [
  ...['--network', 'none', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges', '--security-opt', 'seccomp=runtime-image/seccomp.json'],
]

/** Runs a shell script as the worker in a temporary container of `image`, isolated like a sandbox. */
export async function inImage(image: string, script: string): Promise<CommandResult> {
  const name = `cellblock-test-${randomUUID()}`
  const flags = ['run', '--rm', '--name', name, ...LOCKED, '--user', '10001:10001', '--entrypoint', '/bin/bash']
  // The last line keeps the shell as process 1, because programs such as xvfb-run cannot be process 1.
  const result = await runCommand('docker', [...flags, image, '-c', `${script}\nexit $?`], { timeoutSeconds: 50 })
  if (result.code === 124) await runCommand('docker', ['rm', '--force', name])
  return result
}

/** The same for a Python program. */
export const pythonInImage = (image: string, program: string): Promise<CommandResult> =>
  inImage(image, `python3 - <<'PROGRAM'\n${program}\nPROGRAM`)
