// Writes runtime-image/requirements/*.lock from the .in files: Python 3.13 on Linux, with the hashes of every architecture's wheels.
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainFailure, runCommand } from './setup/command.ts'

const FOLDER = join(import.meta.dirname, '../runtime-image/requirements')
const HEADER = '# Written by `npm run lock:python`. Do not edit.\n'
const COMPILE = 'pip compile --quiet --no-header --no-annotate --generate-hashes --only-binary :all: --python-version 3.13'.split(' ')

/** The largest variant first: its versions are the preferences of the next, so that a package has one version in all variants. */
const LOCKS = [
  { name: 'full', preferences: 'full', options: [] },
  { name: 'standard', preferences: 'full', options: [] },
  { name: 'slim', preferences: 'standard', options: [] },
  // Only unpacked for the data sets in it, so its own requirements are left out.
  { name: 'data', preferences: 'data', options: ['--no-deps'] },
] as const

async function must(program: string, args: readonly string[]): Promise<string> {
  const result = await runCommand(program, args)
  if (result.code !== 0) throw explainFailure(`${program} ${args.join(' ')} failed.`, result)
  return result.stdout
}

/** Both architectures have to resolve to the same versions: one lock serves amd64 and arm64. */
async function compile(uv: string, folder: string, { name, preferences, options }: (typeof LOCKS)[number]): Promise<string> {
  const resolve = async (machine: string): Promise<string> => {
    const output = join(folder, `${name}-${machine}.lock`)
    await copyFile(join(FOLDER, `${preferences}.lock`), output)
    const target = ['--python-platform', `${machine}-manylinux_2_28`, '--output-file', output]
    await must(uv, [...COMPILE, ...options, ...target, join(FOLDER, `${name}.in`)])
    return readFile(output, 'utf8')
  }
  const amd64 = await resolve('x86_64')
  if (amd64 !== (await resolve('aarch64'))) throw new Error(`amd64 and arm64 resolve to different packages: bound them in ${name}.in`)
  return HEADER + amd64
}

const folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
try {
  await must('python3', ['-m', 'venv', folder])
  await must(join(folder, 'bin/pip'), ['install', '--quiet', 'uv'])
  for (const lock of LOCKS) {
    const path = join(FOLDER, `${lock.name}.lock`)
    const before = await readFile(path, 'utf8')
    const wanted = await compile(join(folder, 'bin/uv'), folder, lock)
    if (before !== wanted) await writeFile(path, wanted)
    console.log(before === wanted ? `${lock.name}.lock is up to date` : `${lock.name}.lock written: build the image and run the tests`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
