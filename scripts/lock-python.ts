// Writes runtime-image/requirements.lock from requirements.in: Python 3.13 on Linux, with the hashes of every architecture's wheels.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainFailure, runCommand } from './setup/command.ts'

const FOLDER = join(import.meta.dirname, '../runtime-image')
const HEADER = '# Written by `npm run lock:python` from requirements.in. Do not edit.\n'

const COMPILE = 'pip compile --quiet --no-header --no-annotate --generate-hashes --only-binary :all: --python-version 3.13'.split(' ')

async function must(program: string, args: readonly string[]): Promise<string> {
  const result = await runCommand(program, args)
  if (result.code !== 0) throw explainFailure(`${program} ${args.join(' ')} failed.`, result)
  return result.stdout
}

/** Both architectures have to resolve to the same versions: one lock serves amd64 and arm64. */
async function lock(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
  try {
    await must('python3', ['-m', 'venv', folder])
    await must(join(folder, 'bin/pip'), ['install', '--quiet', 'uv'])
    const [amd64, arm64] = await Promise.all(
      ['x86_64', 'aarch64'].map((machine) =>
        must(join(folder, 'bin/uv'), [...COMPILE, '--python-platform', `${machine}-manylinux_2_28`, join(FOLDER, 'requirements.in')]),
      ),
    )
    if (amd64 === undefined || amd64 !== arm64)
      throw new Error('amd64 and arm64 resolve to different packages: bound them in requirements.in')
    return HEADER + amd64
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const wanted = await lock()
const path = join(FOLDER, 'requirements.lock')
const isSame = (await readFile(path, 'utf8')) === wanted
if (!isSame) await writeFile(path, wanted)
console.log(isSame ? 'requirements.lock is up to date' : 'requirements.lock written: build the image and run the tests')
