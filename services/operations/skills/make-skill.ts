import { createHash } from 'node:crypto'
import { ServiceError } from '../../model/errors.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { LIMITS } from '../../model/limits.ts'
import { writeBundle, type BundleFile } from '../../model/skills/bundle.ts'
import { checkFileBytes, checkFileCount, type NamedFile } from './read-archive.ts'

/** A checked skill that is not stored yet. */
export interface MadeSkill {
  readonly name: string
  readonly description: string
  readonly bundle: Uint8Array
  readonly sha256: string
}

const MANIFEST = 'SKILL.md'
/** What file managers add to archives. */
const isClutter = (path: string): boolean => path.startsWith('__MACOSX/') || /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(path)

/** Checks the files of a skill and makes its bundle. Throws ServiceError whose message names the fault. */
export async function makeSkill(sent: readonly NamedFile[], param: string): Promise<MadeSkill> {
  const files = withoutTopFolder(
    sent.filter(({ path }) => !isClutter(path)).map((file) => ({ ...file, path: checkPath(file.path, param) })),
    param,
  )
  checkFileCount(files.length, param)
  checkFileBytes(
    files.reduce((sum, { content }) => sum + content.byteLength, 0),
    param,
  )
  checkTree(
    files.map(({ path }) => path),
    param,
  )
  const manifest = files.find(({ path }) => path === MANIFEST)
  if (manifest === undefined)
    throw refuse(
      `The skill has no ${MANIFEST}. Send one folder that contains ${MANIFEST} at its top, with its name in that spelling.`,
      param,
    )
  // Few calls make skills, so the parser of YAML is loaded with the first one.
  const { readFrontMatter } = await import('./front-matter.ts')
  const { name, description } = readFrontMatter(manifest.content, param)
  const bundle = writeBundle(files.map(toBundleFile).toSorted((a, b) => (a.path < b.path ? -1 : 1)))
  return { name, description, bundle, sha256: createHash('sha256').update(bundle).digest('hex') }
}

const refuse = (message: string, param: string): ServiceError => new ServiceError('invalid_request', message, { param })

function checkPath(raw: string, param: string): string {
  try {
    const path = normalizeFilePath(raw)
    if (path.split('/').length > LIMITS.maxSkillDepth + 1)
      throw refuse(`The file ${JSON.stringify(path.slice(0, 120))} lies deeper than ${LIMITS.maxSkillDepth} folders.`, param)
    return path
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_file_name') throw error
    throw new ServiceError('invalid_file_name', error.message, { param, cause: error })
  }
}

/** Clients send the folder of the skill, or what it contains. */
function withoutTopFolder(files: readonly NamedFile[], param: string): readonly NamedFile[] {
  if (files.some(({ path }) => path === MANIFEST)) return files
  const tops = new Set(files.map(({ path }) => path.split('/')[0]))
  if (tops.size > 1)
    throw refuse(
      `The skill has ${tops.size} files or folders at its top, and none is ${MANIFEST}. Send one folder that contains it.`,
      param,
    )
  return files.map((file) => ({ ...file, path: file.path.slice(file.path.indexOf('/') + 1) }))
}

/** No name is there twice, and none is a file and a folder. */
function checkTree(paths: readonly string[], param: string): void {
  const known = new Set(paths)
  if (known.size < paths.length) throw refuse('The skill names a file twice. Send each path once.', param)
  for (const path of paths)
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      if (known.has(path.slice(0, at))) throw refuse(`${JSON.stringify(path.slice(0, at))} is a file and a folder of the skill.`, param)
}

/** Forms have no file modes, so a script is recognized by its first characters too. */
const toBundleFile = ({ path, content, isExecutable }: NamedFile): BundleFile => ({
  path,
  content,
  isExecutable: isExecutable === true || (content[0] === 0x23 && content[1] === 0x21),
})
