import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageVariant } from '../../infra/build/image-inputs.ts'
import { SetupError } from './progress.ts'
import { withUv } from './uv.ts'

/** What an operator adds to an image, as given on the command line. */
export interface OwnPackagesRequest {
  /** The image's name in tags. */
  readonly name: string
  /** A requirements file of pip; its lock is written beside it. */
  readonly requirements?: string | undefined
  /** Names of Debian packages. */
  readonly debianPackages: readonly string[]
  /** A folder of wheels for requirements that no index has. */
  readonly wheels?: string | undefined
  /** A folder of wheels from which `pip install` in a sandbox installs. */
  readonly wheelhouse?: string | undefined
  /** A folder of NLTK's data sets as `python -m nltk.downloader -d` fills it: `taggers/NAME.zip`. */
  readonly nltk?: string | undefined
}

/** Packages with locked versions, ready to be built. */
export interface OwnPackages extends Omit<OwnPackagesRequest, 'requirements'> {
  /** Requirements with hashes, without those of the image itself. */
  readonly lock: string
  /** SHA-256 over everything that is added. */
  readonly digest: string
}

const REQUIREMENTS = join(import.meta.dirname, '../../runtime-image/requirements')
const NAME = /^[a-z0-9][a-z0-9-]{0,30}$/
const DEBIAN_PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/
const NLTK_DATA = /^[a-z_]+\/[\w.-]+\.zip$/

/**
 * Locks the requirements in `<file>.lock` unless that lock is of the same requirements and image. The versions of the image's own packages stay. Throws
 * SetupError if the requirements contradict them or a name is not valid.
 */
export async function resolveOwnPackages(request: OwnPackagesRequest, variant: ImageVariant): Promise<OwnPackages> {
  const { name, requirements, debianPackages, wheels, wheelhouse, nltk } = request
  if (!NAME.test(name)) throw new SetupError(`${name} cannot name an image. Use lower-case letters, digits and hyphens.`)
  const wrong = debianPackages.find((one) => !DEBIAN_PACKAGE.test(one))
  if (wrong !== undefined) throw new SetupError(`${wrong} is not the name of a Debian package. Separate names with spaces.`)
  const lock = requirements === undefined ? '' : await lockRequirements(requirements, variant, wheels)
  const hash = createHash('sha256').update(JSON.stringify([lock, debianPackages]))
  for (const folder of [wheels, wheelhouse]) {
    hash.update('\0')
    for (const file of await wheelsIn(folder)) hash.update(`${file}\0`).update(await readFile(join(folder ?? '', file)))
  }
  hash.update('\0')
  for (const file of await dataSetsIn(nltk)) hash.update(`${file}\0`).update(await readFile(join(nltk ?? '', file)))
  return { name, debianPackages, wheels, wheelhouse, nltk, lock, digest: hash.digest('hex') }
}

/** Writes the packages into the folder `extra` of a build context. */
export async function writeOwnPackages(context: string, own: OwnPackages): Promise<void> {
  const extra = join(context, 'extra')
  // The builder's cache holds the layers of unchanged lists.
  if (own.debianPackages.length > 0) await writeFile(join(extra, 'packages.apt'), own.debianPackages.map((one) => `${one}\n`).join(''))
  if (own.lock !== '') await writeFile(join(extra, 'packages.lock'), own.lock)
  for (const kind of ['wheels', 'wheelhouse'] as const) {
    await mkdir(join(extra, kind))
    for (const file of await wheelsIn(own[kind])) await cp(join(own[kind] ?? '', file), join(extra, kind, file))
  }
  for (const file of await dataSetsIn(own.nltk)) await cp(join(own.nltk ?? '', file), join(extra, 'nltk', file))
}

async function wheelsIn(folder: string | undefined): Promise<readonly string[]> {
  if (folder === undefined) return []
  return (await readdir(folder)).filter((file) => file.endsWith('.whl')).toSorted()
}

/** Archives of a folder per kind. Throws SetupError where there are none, because NLTK would not find archives elsewhere. */
async function dataSetsIn(folder: string | undefined): Promise<readonly string[]> {
  if (folder === undefined) return []
  const files = (await readdir(folder, { recursive: true })).filter((file) => NLTK_DATA.test(file)).toSorted()
  if (files.length > 0) return files
  throw new SetupError(
    `${folder} has no data sets of NLTK, such as taggers/averaged_perceptron_tagger_eng.zip. Fill it with: python -m nltk.downloader -d ${folder} averaged_perceptron_tagger_eng`,
  )
}

async function lockRequirements(path: string, variant: ImageVariant, wheels: string | undefined): Promise<string> {
  const base = await readFile(join(REQUIREMENTS, `${variant}.lock`), 'utf8')
  const inputs = createHash('sha256')
    .update(`${await readFile(path, 'utf8')}\0${base}`)
    .digest('hex')
  const header = `# Written by \`npm run image\` for ${variant}, inputs ${inputs}. Delete this file to lock newer versions.\n`
  const before = await readFile(`${path}.lock`, 'utf8').catch(() => '')
  if (before.startsWith(header)) return before
  const compiled = await withUv(async (compile, folder) => {
    const [constraints, output] = [join(folder, 'constraints.txt'), join(folder, 'own.lock')]
    await writeFile(constraints, versionsOf(base).join('\n'))
    const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
    const links = wheels === undefined ? [] : ['--find-links', wheels]
    await compile([...links, '--constraint', constraints, '--python-platform', `${machine}-manylinux_2_28`, '--output-file', output, path])
    return readFile(output, 'utf8')
  })
  const present = new Set(versionsOf(base))
  const lock =
    header +
    entriesOf(compiled)
      .filter((entry) => !versionsOf(entry).some((version) => present.has(version)))
      .join('')
  await writeFile(`${path}.lock`, lock)
  return lock
}

/** `name==version` of each entry. */
const versionsOf = (lock: string): string[] => [...lock.matchAll(/^([a-z0-9][\w.-]*==[^\s\\;]+)/gim)].map((match) => match[1] ?? '')
const entriesOf = (lock: string): string[] => lock.match(/^[a-z0-9].*(?:\n[ \t]+.*)*\n?/gim) ?? []
