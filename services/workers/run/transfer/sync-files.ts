import pLimit from 'p-limit'
import type { Container } from '../../../model/containers/container.ts'
import type { Lost } from '../../../model/executions/execution.ts'
import { sandboxPathOf, type ContainerFile } from '../../../model/files/file.ts'
import type { ContainerSkill } from '../../../model/skills/skill.ts'
import { SupervisorError, type SupervisorErrorCode } from '../../../ports/supervisor.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'
import { allEnded } from './all-ended.ts'

const AT_ONCE = 4
/** Maximum number of files that `lost` names; further ones are counted, because `lost` is part of the execution's row. */
const MAX_NAMED = 40

/** Where the files go, and what stops them. */
interface Target {
  readonly session: SandboxSession
  readonly signal: AbortSignal
}

/**
 * Copies the container's skills, and its files to `/mnt/data`: all into a new sandbox, only the changes into a used one. The version is read before the rows, so a
 * file that is added meanwhile is copied now or by the next execution.
 */
export async function syncFiles(deps: RunDeps, container: Container, target: Target): Promise<readonly Lost[]> {
  const { tenant, id, generation, filesVersion } = container
  const lost: Lost[] = [...(await syncSkills(deps, container, target))]
  const slots = pLimit(AT_ONCE)
  const rows = await deps.table.files.all(tenant, id)
  const current = new Set(rows.filter((file) => file.isCurrent && file.state === 'stored').map(sandboxPathOf))
  await allEnded(
    rows.map((file) =>
      slots(async () => {
        // An upload replaces a version that code spelled otherwise, whose file would stay beside it.
        const isReplaced = !file.isCurrent && file.sandboxPath !== undefined
        if ((file.state === 'deleted' || isReplaced) && file.sandboxGeneration === generation) {
          const kept = current.has(sandboxPathOf(file)) ? null : await remove(deps, target.session, file)
          if (kept !== null) lost.push(kept)
          await deps.table.files.patch(file, { sandboxGeneration: 0 })
        }
        if (!file.isCurrent || file.state !== 'stored' || file.sandboxGeneration === generation) return
        const problem = await push(deps, file, target)
        if (problem === null) await deps.table.files.patch(file, { sandboxGeneration: generation })
        else lost.push(problem)
      }),
    ),
  )
  await deps.table.containers.filesSynced(tenant, id, { generation, version: filesVersion })
  if (lost.length <= MAX_NAMED) return lost
  const others = lost.length - MAX_NAMED
  return [...lost.slice(0, MAX_NAMED), { what: 'files', reason: `${others} more files could not be brought in; the first ones say why.` }]
}

/** Code can make a folder read-only. A deleted file that stays in it is named once in `lost`, and the execution continues. */
async function remove(deps: RunDeps, session: SandboxSession, file: ContainerFile): Promise<Lost | null> {
  try {
    await deps.supervisor.deleteFile(session, sandboxPathOf(file))
    return null
  } catch (cause) {
    if (!(cause instanceof SupervisorError) || REFUSED[cause.code] === undefined) throw cause
    return { what: `file ${JSON.stringify(file.path)}`, reason: 'It was deleted, but its copy in the sandbox could not be removed.' }
  }
}

async function push(deps: RunDeps, file: ContainerFile, { session, signal }: Target): Promise<Lost | null> {
  const object = await deps.objects.get(file.objectKey)
  if (object === null) return { what: `file ${JSON.stringify(file.path)}`, reason: 'Its stored content no longer exists.' }
  try {
    await deps.supervisor.putFile(session, { path: sandboxPathOf(file), bytes: object.bytes, body: object.body }, signal)
    return null
  } catch (cause) {
    const reason = cause instanceof SupervisorError ? REFUSED[cause.code] : undefined
    if (reason === undefined) throw cause
    return { what: `file ${JSON.stringify(file.path)}`, reason }
  }
}

/** Errors of a single file: the code runs without it, and the result names it. */
const REFUSED: Partial<Record<SupervisorErrorCode, string>> = {
  disk_full: 'The disk of the sandbox is full, so the file was not copied.',
  too_large: 'It is too big for the disk of the sandbox.',
  bad_request: 'The sandbox does not accept its name, or its folder cannot be changed.',
  conflict: 'A folder of this name is in its place.',
  not_found: 'A file or a link is in the place of its folder.',
}

/** Writes the container's skills to `/mnt/skills` of a sandbox that lacks them. Returns those that could not be written. */
async function syncSkills(
  deps: Pick<RunDeps, 'supervisor' | 'objects'>,
  { skills = [] }: Pick<Container, 'skills'>,
  target: Target,
): Promise<readonly Lost[]> {
  if (skills.length === 0) return []
  const present = await deps.supervisor.listSkills(target.session).catch((cause: unknown) => {
    // A sandbox of an image that was built before skills existed.
    if (cause instanceof SupervisorError && cause.code === 'not_found') return null
    throw cause
  })
  if (present === null) return skills.map(({ name }) => lostSkill(name, 'The image of the sandbox is too old for skills. Build it again.'))
  const lost: Lost[] = []
  for (const skill of skills.filter(({ folder }) => !present.includes(folder))) {
    const reason = await writeSkill(deps, skill, target)
    if (reason !== null) lost.push(lostSkill(skill.name, reason))
  }
  return lost
}

const lostSkill = (name: string, reason: string): Lost => ({ what: `skill ${JSON.stringify(name)}`, reason })

/** Null when it is written; otherwise the reason why it is not. */
async function writeSkill(
  { supervisor, objects }: Pick<RunDeps, 'supervisor' | 'objects'>,
  { folder, objectKey }: ContainerSkill,
  { session, signal }: Target,
): Promise<string | null> {
  const object = await objects.get(objectKey)
  if (object === null) return 'Its stored content no longer exists.'
  try {
    await supervisor.putSkill(session, { folder, bytes: object.bytes, body: object.body }, signal)
    return null
  } catch (cause) {
    const reason = cause instanceof SupervisorError ? REFUSED_SKILLS[cause.code] : undefined
    if (reason === undefined) throw cause
    return reason
  }
}

/** Errors of a single skill: the code runs without it, and the result names it. */
const REFUSED_SKILLS: Partial<Record<SupervisorErrorCode, string>> = {
  disk_full: 'The space for skills in the sandbox is full.',
  too_large: 'It is too large for the sandbox.',
  bad_request: 'The sandbox does not accept its content.',
}
