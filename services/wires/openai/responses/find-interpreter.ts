import { containerOf } from '../../../operations/access.ts'
import { findFile } from '../../../operations/files/find-file.ts'
import { checkMemory } from '../../../operations/tenancy/check-limits.ts'
import type { Call } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { resolveSkills, type InlineBundles } from '../../../operations/skills/resolve-skills.ts'
import { refuseNetwork } from '../containers/schema.ts'
import { CodeInterpreterTool, ShellTool, type CreateResponse } from './schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { InterpreterRequest } from '../../../model/responses/response.ts'

type ResponseCall = Pick<Call<unknown, CreateResponse>, 'deps' | 'caller' | 'body'>
type AutoContainer = Exclude<CodeInterpreterTool['container'], string>

/**
 * Parses the tools code_interpreter and shell, which share one container. The caller must have access to it and to its files. Null when nothing runs
 * here.
 */
export async function findInterpreter(call: ResponseCall, inline: InlineBundles): Promise<InterpreterRequest | null> {
  const [interpreter, shell] = [await interpreterOf(call), await shellOf(call, inline)]
  if (interpreter === null || shell === null) return interpreter ?? shell
  const fileIds = [...new Set([...interpreter.fileIds, ...shell.fileIds])]
  const both = { ...interpreter, fileIds, ...(shell.skills && { skills: shell.skills }) }
  if (shell.containerId === null || shell.containerId === interpreter.containerId) return both
  if (interpreter.containerId === null) return { ...both, containerId: shell.containerId, memoryTier: shell.memoryTier }
  throw new ServiceError('invalid_request', 'The tools shell and code_interpreter name two containers. Name the same one in both.', {
    param: 'tools',
  })
}

async function interpreterOf(call: ResponseCall): Promise<InterpreterRequest | null> {
  const index = indexOf(call, 'code_interpreter')
  if (index === -1) return null
  const { container } = validate(CodeInterpreterTool(), call.body.tools?.[index], 'body')
  const param = `tools[${index}].container`
  return typeof container === 'string' ? named(call, container, param) : automatic(call, container, param)
}

async function shellOf(call: ResponseCall, inline: InlineBundles): Promise<InterpreterRequest | null> {
  const index = indexOf(call, 'shell')
  if (index === -1) return null
  const { environment } = validate(ShellTool(), call.body.tools?.[index], 'body')
  if (!environment || environment.type === 'local') return null
  const param = `tools[${index}].environment`
  if (environment.type === 'container_reference')
    return { ...(await named(call, environment.container_id, `${param}.container_id`)), isShellOnly: true }
  const { skills: wanted, ...container } = environment
  const found = await automatic(call, { ...container, type: 'auto' }, param)
  const skills = await resolveSkills(call, wanted, `${param}.skills`, inline)
  return { ...found, ...(skills.length > 0 && { skills }), isShellOnly: true }
}

const indexOf = ({ body }: ResponseCall, type: string): number => (body.tools ?? []).findIndex((tool) => tool.type === type)

async function named(call: ResponseCall, container: string, param: string): Promise<InterpreterRequest> {
  const { id, memoryTier } = await containerOf(call, container, param)
  return { containerId: id, memoryTier, fileIds: [] }
}

async function automatic(call: ResponseCall, container: AutoContainer, param: string): Promise<InterpreterRequest> {
  const memoryTier = container.memory_limit ?? '1g'
  await checkMemory(call.deps, call.caller.tenant, memoryTier, `${param}.memory_limit`)
  refuseNetwork(container.network_policy, `${param}.network_policy`)
  const fileIds = [...new Set(container.file_ids ?? [])]
  await Promise.all(fileIds.map((id) => findFile(call, id, `${param}.file_ids`)))
  return { containerId: null, memoryTier, fileIds }
}
