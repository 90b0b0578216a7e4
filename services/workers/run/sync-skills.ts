import type { Container } from '../../model/containers/container.ts'
import type { Lost } from '../../model/executions/execution.ts'
import { SupervisorError, type SupervisorErrorCode } from '../../ports/supervisor.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../deps.ts'

/** Writes the container's skills to `/mnt/skills` of a sandbox that lacks them. Returns those that could not be written. */
export async function syncSkills(
  deps: Pick<RunDeps, 'supervisor' | 'objects'>,
  session: SandboxSession,
  { skills = [] }: Pick<Container, 'skills'>,
  signal: AbortSignal,
): Promise<readonly Lost[]> {
  if (skills.length === 0) return []
  const present = await deps.supervisor.listSkills(session).catch((cause: unknown) => {
    // A sandbox of an image that was built before skills existed.
    if (cause instanceof SupervisorError && cause.code === 'not_found') return null
    throw cause
  })
  if (present === null) return skills.map(({ name }) => lostSkill(name, 'The image of the sandbox is too old for skills. Build it again.'))
  const lost: Lost[] = []
  for (const skill of skills.filter(({ folder }) => !present.includes(folder))) {
    const object = await deps.objects.get(skill.objectKey)
    const reason = object === null ? 'Its stored content no longer exists.' : await write(deps, session, skill.folder, object, signal)
    if (reason !== null) lost.push(lostSkill(skill.name, reason))
  }
  return lost
}

const lostSkill = (name: string, reason: string): Lost => ({ what: `skill ${JSON.stringify(name)}`, reason })

async function write(
  { supervisor }: Pick<RunDeps, 'supervisor'>,
  session: SandboxSession,
  folder: string,
  { bytes, body }: { readonly bytes: number; readonly body: AsyncIterable<Uint8Array> },
  signal: AbortSignal,
): Promise<string | null> {
  try {
    await supervisor.putSkill(session, folder, bytes, body, signal)
    return null
  } catch (cause) {
    const reason = cause instanceof SupervisorError ? REFUSED[cause.code] : undefined
    if (reason === undefined) throw cause
    return reason
  }
}

/** Errors of a single skill: the code runs without it, and the result names it. */
const REFUSED: Partial<Record<SupervisorErrorCode, string>> = {
  disk_full: 'The space for skills in the sandbox is full.',
  too_large: 'It is too large for the sandbox.',
  bad_request: 'The sandbox does not accept its content.',
}
