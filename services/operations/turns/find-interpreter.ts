import { containerOf } from '../access.ts'
import { findFile } from '../files/find-file.ts'
import { checkMemory } from '../tenancy/check-limits.ts'
import { resolveSkills, type InlineBundles } from '../skills/resolve-skills.ts'
import { ServiceError } from '../../model/errors.ts'
import type { InterpreterRequest } from '../../model/responses/response.ts'
import type { TurnPorts, TurnRequest, WantedContainer } from './turn-request.ts'

/** Resolves the container that both tools share. The caller must have access to it and to its files. Null when nothing runs here. */
export async function findInterpreter(ports: TurnPorts, turn: TurnRequest, inline: InlineBundles): Promise<InterpreterRequest | null> {
  const interpreter = turn.interpreter && (await resolve(ports, turn, { wanted: turn.interpreter, inline }))
  const shell = turn.shell && { ...(await resolve(ports, turn, { wanted: turn.shell, inline })), isShellOnly: true }
  if (interpreter === null || shell === null) return interpreter ?? shell
  const fileIds = [...new Set([...interpreter.fileIds, ...shell.fileIds])]
  const both = { ...interpreter, fileIds, ...(shell.skills && { skills: shell.skills }) }
  if (shell.containerId === null || shell.containerId === interpreter.containerId) return both
  if (interpreter.containerId === null) return { ...both, containerId: shell.containerId, memoryTier: shell.memoryTier }
  throw new ServiceError('invalid_request', 'The tools shell and code_interpreter name two containers. Name the same one in both.', {
    param: 'tools',
  })
}

async function resolve(
  deps: TurnPorts,
  { caller }: TurnRequest,
  { wanted, inline }: { readonly wanted: WantedContainer; readonly inline: InlineBundles },
): Promise<InterpreterRequest> {
  const reader = { deps, caller }
  if (wanted.kind === 'named') {
    const { id, memoryTier } = await containerOf(reader, wanted.containerId, { scope: 'run', param: wanted.param })
    return { containerId: id, memoryTier, fileIds: [] }
  }
  const { memoryTier, param } = wanted
  await checkMemory(deps, caller.tenant, { tier: memoryTier, param: `${param}.memory_limit` })
  const fileIds = [...new Set(wanted.fileIds)]
  await Promise.all(fileIds.map((id) => findFile(reader, id, { scope: 'run', param: `${param}.file_ids` })))
  const skills = await resolveSkills(reader, wanted.skills, { param: `${param}.skills`, inline })
  return { containerId: null, memoryTier, fileIds, ...(skills.length > 0 && { skills }) }
}
