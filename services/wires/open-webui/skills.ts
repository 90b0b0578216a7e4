import * as z from 'zod'
import { ServiceError } from '../../model/errors.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { readBytes } from '../../model/read-bytes.ts'
import { currentFiles } from '../../operations/files/find-by-path.ts'
import { HOME } from '../../operations/files/sandbox-path.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { terminalRoute } from './routing.ts'
import { findTerminal } from './terminal.ts'

/** Folders of the home folder in which agents keep skills; the first skill of a name counts. */
const FOLDERS = ['.agents/skills', '.cptr/skills', '.claude/skills', '.codex/skills'] as const
const MANIFEST = 'SKILL.md'
const MAX_SKILLS = 50
const MAX_MANIFEST_BYTES = 64 * 1024
const MAX_RESOURCES = 50
const MAX_DESCRIPTION = 1_024

interface Skill {
  readonly shown: Readonly<Record<string, string>>
  readonly content: string
  readonly resources: readonly string[]
}

/** The skills that the user has put into the home folder. Asked in every turn, so it reads the store and starts no sandbox. */
async function skillsOf(call: Call): Promise<readonly Skill[]> {
  const terminal = await findTerminal(call, 'files')
  if (terminal === null) return []
  const files = await currentFiles(call.deps, terminal.container)
  const manifests = FOLDERS.flatMap((folder) =>
    files
      .filter(({ path, bytes }) => isManifest(path, folder) && bytes <= MAX_MANIFEST_BYTES)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  )
  const skills = new Map<string, Skill>()
  for (const manifest of manifests.slice(0, MAX_SKILLS)) {
    const skill = await read(call, manifest, files)
    if (skill !== null && !skills.has(skill.shown['name'] ?? '')) skills.set(skill.shown['name'] ?? '', skill)
  }
  return [...skills.values()]
}

const isManifest = (path: string, folder: string): boolean => {
  const [name = '', file, ...deeper] = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/') : []
  return file === MANIFEST && deeper.length === 0 && !name.startsWith('.')
}

/** Null for a manifest that is not valid. */
async function read({ deps }: Call, manifest: ContainerFile, files: readonly ContainerFile[]): Promise<Skill | null> {
  const { readFrontMatter } = await import('../../operations/skills/front-matter.ts')
  const object = await deps.objects.get(manifest.objectKey)
  if (object === null) return null
  const bytes = await readBytes(object.body)
  try {
    const { name, description } = readFrontMatter(bytes, 'path')
    const id = `terminal:${encodeURIComponent(name)}`
    const location = `${HOME}/${manifest.path}`
    const folder = manifest.path.slice(0, -MANIFEST.length)
    const beside = files
      .filter(({ path }) => path.startsWith(folder) && path !== manifest.path)
      .map(({ path }) => path.slice(folder.length))
    return {
      shown: { id, name, description: description.slice(0, MAX_DESCRIPTION), location, scope: 'global', source: 'terminal' },
      content: bytes
        .toString('utf8')
        .replace(/^---\r?\n[\s\S]*?\r?\n---[^\n]*\n?/, '')
        .trim(),
      resources: beside.toSorted().slice(0, MAX_RESOURCES),
    }
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

const Named = lazySchema(() => z.object({ name: z.string().max(200) }))

async function one(call: Call<z.infer<ReturnType<typeof Named>>>): Promise<Response> {
  const found = (await skillsOf(call)).find(({ shown }) => shown['name'] === call.query.name)
  if (found === undefined) throw new ServiceError('skill_not_found', 'There is no skill of this name in the home folder.')
  return json(200, { ...found.shown, content: found.content, resources: found.resources })
}

const list = async (call: Call): Promise<Response> =>
  json(
    200,
    (await skillsOf(call)).map(({ shown }) => shown),
  )

export const skillRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'get', path: '/skills', scope: 'files', handle: list }),
  terminalRoute({ method: 'get', path: '/skills/read', scope: 'files', query: Named, handle: one }),
]
