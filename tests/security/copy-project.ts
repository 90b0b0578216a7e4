import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { runCommand } from '../../scripts/setup/command.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const PARTS = ['services', 'infra', 'packages', 'runtime-image', 'tests', 'scripts', 'package.json', 'tsconfig.json', 'vitest.config.ts']
const SUPERVISOR = 'runtime-image/supervisor'

/** An edit that removes a protection. `find` must occur exactly once in the file. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface ProjectCopy extends AsyncDisposable {
  readonly root: string
  /** The tag of the sandbox image with the copy's supervisor. */
  readonly image: string
}

/** A copy receives its image by tag. A build under the default tag would leave an unprotected image behind. */
const GIVEN_IMAGE = `
import { labelContainers } from './test-label.ts'
export function setup(project) {
  project.provide('sandboxImage', process.env.CELLBLOCK_SANDBOX_IMAGE)
  return labelContainers(project)
}
`

/** Packages that the tests of third-party clients install are no source, and a mutant would copy them for minutes. A copy links to them. */
const CLIENTS = 'tests/client-compat/node_modules'
const isSource = (path: string): boolean => basename(path) !== 'node_modules'

/** A test that a time limit ends leaves its container, which would keep the image. */
const REMOVE_IMAGE = 'docker ps --all --quiet --filter "ancestor=$1" | xargs -r docker rm --force --volumes; docker image rm --force "$1"'

/** Copies the project, applies the edits and builds the image if needed. Throws if an edit does not match. */
export async function copyProject(image: string, edits: readonly Edit[]): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), 'cbx-copy-'))
  const tag = `cellblock-sandbox-mutant:${randomUUID()}`
  const isSupervisorEdited = edits.some(({ file }) => file.startsWith(SUPERVISOR))
  // A signal or a time limit ends the process before the disposal.
  const removeAtExit = (): void => {
    if (isSupervisorEdited) spawnSync('sh', ['-c', REMOVE_IMAGE, 'sh', tag], { stdio: 'ignore', timeout: 30_000 })
    rmSync(root, { recursive: true, force: true })
  }
  process.once('exit', removeAtExit)
  const dispose = async (): Promise<void> => {
    if (isSupervisorEdited) await runCommand('sh', ['-c', REMOVE_IMAGE, 'sh', tag], { timeoutSeconds: 60 })
    await rm(root, { recursive: true, force: true })
    process.off('exit', removeAtExit)
  }
  try {
    for (const part of PARTS) await cp(join(ROOT, part), join(root, part), { recursive: true, filter: isSource })
    await symlink(await realpath(join(ROOT, 'node_modules')), join(root, 'node_modules'))
    await symlink(join(ROOT, CLIENTS), join(root, CLIENTS))
    await writeFile(join(root, 'tests/setup/sandbox-image.ts'), GIVEN_IMAGE)
    for (const { file, find, replace } of edits) {
      const parts = (await readFile(join(root, file), 'utf8')).split(find)
      if (parts.length !== 2)
        throw new Error(`${file} has ${parts.length - 1} matches for ${JSON.stringify(find)}, expected 1. Update the edit.`)
      await writeFile(join(root, file), parts.join(replace))
    }
    if (isSupervisorEdited) await buildImage(join(root, SUPERVISOR), image, tag)
    return { root, image: isSupervisorEdited ? tag : image, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Adds one layer and recompiles the bytecode, which Python does not check. No build cache, because another lane may remove its layers. */
async function buildImage(context: string, base: string, tag: string): Promise<void> {
  const dockerfile = join(context, 'Dockerfile')
  await writeFile(
    dockerfile,
    `FROM ${base}\nCOPY cellblock_supervisor /opt/cellblock/cellblock_supervisor\nRUN python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/cellblock/cellblock_supervisor\n`,
  )
  const built = await runCommand('docker', ['build', '--quiet', '--no-cache', '--force-rm', '--tag', tag, '--file', dockerfile, context], {
    timeoutSeconds: 300,
  })
  if (built.code !== 0) throw new Error(`Failed to build the image of the copy:\n${built.output}`)
}
