import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LOCK = join(ROOT, 'tests/aws/ministack/requirements.lock')
/** A mirror that does not answer ends the installation instead of holding it up. */
const PATIENCE_SECONDS = 240

/** The Python of a virtual environment with the emulator in it, made once for each content of the lock. Throws a SetupError. */
export async function ensureMiniStack(): Promise<string> {
  const lock = await readFile(LOCK)
  const folder = join(ROOT, '.tools', `ministack-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  const python = join(folder, 'bin/python')
  const isComplete = join(folder, 'complete')
  if (existsSync(isComplete)) return python

  await rm(folder, { recursive: true, force: true })
  const made = await runCommand('python3', ['-m', 'venv', folder], { timeoutSeconds: PATIENCE_SECONDS })
  if (made.code !== 0)
    throw explainFailure(
      'The emulated AWS account needs Python 3.10 or newer with venv (on Debian: apt-get install python3-venv). Install it and run the tests again.',
      made,
    )
  const install = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--retries',
    '2',
    '--timeout',
    '20',
    '--require-hashes',
  ]
  const installed = await runCommand(python, [...install, '--requirement', LOCK], { timeoutSeconds: PATIENCE_SECONDS })
  if (installed.code !== 0)
    throw explainFailure(
      'The emulated AWS account could not be installed. Check that PyPI can be reached and run the tests again.',
      installed,
    )
  await writeFile(isComplete, '')
  return python
}
