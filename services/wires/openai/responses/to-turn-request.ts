import { validate } from '../../../http/validate.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { TurnRequest, WantedContainer } from '../../../operations/turns/turn-request.ts'
import { withoutInlineData, type WantedSkill } from '../../../operations/skills/resolve-skills.ts'
import { wantedNetwork } from '../containers/schema.ts'
import { CodeInterpreterTool, conversationIdOf, FunctionTool, ShellTool, type CreateResponse } from './schema.ts'

type AutoContainer = Exclude<CodeInterpreterTool['container'], string>

/** The turn that a body requests; a missing field has the wire's default. Throws ServiceError for a tool with wrong fields. */
export function toTurnRequest(
  body: CreateResponse,
): Pick<TurnRequest, 'request' | 'interpreter' | 'shell' | 'previousResponseId' | 'conversationId'> {
  checkForms(body)
  return {
    request: {
      model: body.model,
      input: body.input,
      instructions: body.instructions ?? null,
      tools: (body.tools ?? []).map(withoutInlineSkills).map(withoutSecretValues),
      toolChoice: body.tool_choice ?? 'auto',
      include: body.include ?? [],
      metadata: body.metadata ?? {},
      temperature: body.temperature ?? null,
      topP: body.top_p ?? null,
      maxOutputTokens: body.max_output_tokens ?? null,
      maxToolCalls: body.max_tool_calls ?? null,
      parallelToolCalls: body.parallel_tool_calls ?? true,
      store: body.store ?? true,
      background: body.background ?? false,
      stream: body.stream ?? false,
      user: body.user ?? null,
      ...(body.generate === false ? { purpose: 'preparation' as const } : {}),
      echoed: echoedFields(body),
    },
    interpreter: interpreterOf(body),
    shell: shellOf(body),
    previousResponseId: body.previous_response_id || null,
    conversationId: conversationIdOf(body),
  }
}

const FORMS = { code_interpreter: CodeInterpreterTool, shell: ShellTool, function: FunctionTool } as const

function checkForms({ tools }: CreateResponse): void {
  for (const [index, tool] of (tools ?? []).entries()) {
    const form = Object.hasOwn(FORMS, tool.type) ? FORMS[tool.type as keyof typeof FORMS] : null
    if (form !== null) within(`tools[${index}]`, () => validate<unknown>(form(), tool, 'body'))
  }
}

function interpreterOf({ tools }: CreateResponse): WantedContainer | null {
  const index = (tools ?? []).findIndex(({ type }) => type === 'code_interpreter')
  if (index === -1) return null
  const { container } = validate(CodeInterpreterTool(), tools?.[index], 'body')
  const param = `tools[${index}].container`
  return typeof container === 'string' ? { kind: 'named', containerId: container, param } : automatic(container, [], param)
}

function shellOf({ tools }: CreateResponse): WantedContainer | null {
  const index = (tools ?? []).findIndex(({ type }) => type === 'shell')
  if (index === -1) return null
  const { environment } = validate(ShellTool(), tools?.[index], 'body')
  if (!environment || environment.type === 'local') return null
  const param = `tools[${index}].environment`
  if (environment.type === 'container_reference')
    return { kind: 'named', containerId: environment.container_id, param: `${param}.container_id` }
  const { skills, ...container } = environment
  return automatic({ ...container, type: 'auto' }, skills ?? [], param)
}

function automatic(container: AutoContainer, skills: readonly WantedSkill[], param: string): WantedContainer {
  const network = wantedNetwork(container.network_policy)
  const memoryTier = container.memory_limit ?? '1g'
  return { kind: 'auto', memoryTier, fileIds: container.file_ids ?? [], skills, ...(network && { network }), param }
}

/** The bytes of skills in the request are stored as objects, so the row and its echoes leave them out. */
function withoutInlineSkills<Tool extends Readonly<Record<string, unknown>>>(tool: Tool): Tool {
  const { environment } = tool
  if (tool['type'] !== 'shell' || typeof environment !== 'object' || environment === null || !('skills' in environment)) return tool
  return { ...tool, environment: { ...environment, skills: withoutInlineData(environment.skills) } }
}

/** The values of secrets are stored encrypted, so the row and its echoes leave them out. */
function withoutSecretValues<Tool extends Readonly<Record<string, unknown>>>(tool: Tool): Tool {
  const name = tool['type'] === 'code_interpreter' ? 'container' : tool['type'] === 'shell' ? 'environment' : null
  const place = name === null ? null : recordOf(tool[name])
  const policy = recordOf(place?.['network_policy'])
  if (name === null || policy === null || !('domain_secrets' in policy)) return tool
  const { domain_secrets: _, ...others } = policy
  return { ...tool, [name]: { ...place, network_policy: others } }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null

/** The fields that the answer repeats. */
function echoedFields(body: CreateResponse): Readonly<Record<string, unknown>> {
  const { reasoning, text, safety_identifier, prompt_cache_key, truncation, service_tier, prompt_cache_retention, top_logprobs } = body
  const sent = {
    reasoning: reasoning && { effort: null, summary: null, ...reasoning },
    text: text && { ...text, format: text.format ?? { type: 'text' } },
    safety_identifier,
    prompt_cache_key,
    truncation,
    service_tier: service_tier === 'auto' ? 'default' : service_tier,
    prompt_cache_retention,
    top_logprobs,
  }
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined && value !== null))
}

function within(path: string, check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const param = error.param === null ? path : `${path}.${error.param}`
    throw new ServiceError(error.code, error.message.replace(`'${error.param}'`, `'${param}'`), { param, cause: error })
  }
}
