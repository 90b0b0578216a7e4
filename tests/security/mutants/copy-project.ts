import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCommand } from '../../../scripts/setup/command.ts'

const ROOT = dirname(dirname(dirname(import.meta.dirname)))
const PARTS = ['services', 'runtime-image', 'tests', 'scripts', 'package.json', 'tsconfig.json', 'vitest.config.ts']
const SUPERVISOR = 'runtime-image/supervisor'

/** A protection that is taken out: `find` must be in the file exactly once, so that no edit misses. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface ProjectCopy extends AsyncDisposable {
  readonly root: string
  /** Tag of the sandbox image with the copy's supervisor. */
  readonly image: string
}

/** In a copy the image is given: to build one under the usual tags would leave a sandbox without walls behind them. */
const GIVEN_IMAGE = `
import { labelContainers } from './test-label.ts'
export function setup(project) {
  project.provide('sandboxImage', process.env.CELLBLOCK_SANDBOX_IMAGE)
  return labelContainers(project)
}
`

/** The project in another folder with some edits, and the image that belongs to it. Throws when an edit does not fit. */
export async function copyProject(image: string, edits: readonly Edit[]): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), 'cbx-copy-'))
  const tag = `cellblock-sandbox-mutant:${randomUUID()}`
  const isSupervisorEdited = edits.some(({ file }) => file.startsWith(SUPERVISOR))
  const dispose = async (): Promise<void> => {
    if (isSupervisorEdited) await runCommand('docker', ['image', 'rm', '--force', tag], { timeoutSeconds: 60 })
    await rm(root, { recursive: true, force: true })
  }
  try {
    for (const part of PARTS) await cp(join(ROOT, part), join(root, part), { recursive: true })
    await symlink(await realpath(join(ROOT, 'node_modules')), join(root, 'node_modules'))
    await writeFile(join(root, 'tests/setup/sandbox-image.ts'), GIVEN_IMAGE)
    for (const { file, find, replace } of edits) {
      const parts = (await readFile(join(root, file), 'utf8')).split(find)
      if (parts.length !== 2)
        throw new Error(`${file} has ${parts.length - 1} places that read ${JSON.stringify(find)}: bring the edit up to date.`)
      await writeFile(join(root, file), parts.join(replace))
    }
    if (isSupervisorEdited) await buildImage(join(root, SUPERVISOR), image, tag)
    return { root, image: isSupervisorEdited ? tag : image, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** One more layer: bytecode is used unchecked, so it is compiled anew. No cache, since another lane may be removing what it holds. */
async function buildImage(context: string, base: string, tag: string): Promise<void> {
  const dockerfile = join(context, 'Dockerfile')
  await writeFile(
    dockerfile,
    `FROM ${base}\nCOPY cellblock_supervisor /opt/cellblock/cellblock_supervisor\nRUN python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/cellblock/cellblock_supervisor\n`,
  )
  const built = await runCommand('docker', ['build', '--quiet', '--no-cache', '--force-rm', '--tag', tag, '--file', dockerfile, context], {
    timeoutSeconds: 300,
  })
  if (built.code !== 0) throw new Error(`The image of the copy could not be built:\n${built.output}`)
}
