import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainFailure, runCommand } from './command.ts'
import { readSetupConfig } from './config.ts'

/** Runs `use` with uv, the resolver of Python packages, which is installed into a temporary folder, deleted on exit. Throws SetupError. */
export async function withUv<T>(use: (compile: (args: readonly string[]) => Promise<void>, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
  const { buildArguments, environment } = readSetupConfig()
  const index = buildArguments['PIP_INDEX_URL']
  const env = { ...environment, ...(index === undefined ? {} : { UV_DEFAULT_INDEX: index }) }
  const must = async (program: string, args: readonly string[]): Promise<void> => {
    const result = await runCommand(program, args, { env })
    if (result.code !== 0)
      throw explainFailure('The requirements could not be locked: the reason is above. Change them and run the command again.', result)
  }
  try {
    await must('python3', ['-m', 'venv', folder])
    await must(join(folder, 'bin/pip'), ['install', '--quiet', 'uv'])
    return await use((args) => must(join(folder, 'bin/uv'), [...COMPILE, ...args]), folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const COMPILE = 'pip compile --quiet --no-header --no-annotate --generate-hashes --only-binary :all: --python-version 3.13'.split(' ')
