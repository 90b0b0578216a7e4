// Writes runtime-image/requirements/*.lock from the .in files: Python 3.13 on Linux, with the hashes of every architecture's wheels.
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withUv } from './setup/uv.ts'

const FOLDER = join(import.meta.dirname, '../runtime-image/requirements')
const HEADER = '# Written by `npm run lock:python`. Do not edit.\n'

/** The largest variant first: its versions are the preferences of the next, so that a package has one version in all variants. */
const LOCKS = [
  { name: 'full', preferences: 'full', options: [] },
  { name: 'standard', preferences: 'full', options: [] },
  { name: 'slim', preferences: 'standard', options: [] },
  // Only unpacked for the data sets in it, so its own requirements are left out.
  { name: 'data', preferences: 'data', options: ['--no-deps'] },
] as const

type Compile = (args: readonly string[]) => Promise<void>

/** Both architectures have to resolve to the same versions: one lock serves amd64 and arm64. */
async function lock(compile: Compile, folder: string, { name, preferences, options }: (typeof LOCKS)[number]): Promise<string> {
  const resolve = async (machine: string): Promise<string> => {
    const output = join(folder, `${name}-${machine}.lock`)
    await copyFile(join(FOLDER, `${preferences}.lock`), output)
    const target = ['--python-platform', `${machine}-manylinux_2_28`, '--output-file', output]
    await compile([...options, ...target, join(FOLDER, `${name}.in`)])
    return readFile(output, 'utf8')
  }
  const amd64 = await resolve('x86_64')
  if (amd64 !== (await resolve('aarch64'))) throw new Error(`amd64 and arm64 resolve to different packages: bound them in ${name}.in`)
  return HEADER + amd64
}

await withUv(async (compile, folder) => {
  for (const entry of LOCKS) {
    const path = join(FOLDER, `${entry.name}.lock`)
    const before = await readFile(path, 'utf8')
    const wanted = await lock(compile, folder, entry)
    if (before !== wanted) await writeFile(path, wanted)
    console.log(before === wanted ? `${entry.name}.lock is up to date` : `${entry.name}.lock written: build the image and run the tests`)
  }
})
