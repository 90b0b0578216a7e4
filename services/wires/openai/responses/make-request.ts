import { conversationOf } from '../../../operations/access.ts'
import type { Call } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { withoutInlineData, type InlineBundles } from '../../../operations/skills/resolve-skills.ts'
import { modelMissing } from '../models/routes.ts'
import { refusePrivateImages } from '../image-urls.ts'
import { previousOf } from './previous-response.ts'
import { checkOutputs } from './check-outputs.ts'
import { checkItems, checkTextFormat, checkToolChoice } from './check-input.ts'
import { findAttached, nameAttached, resolveReferences } from './input-references.ts'
import { findInterpreter } from './find-interpreter.ts'
import { CodeInterpreterTool, conversationIdOf, FunctionTool, ShellTool, type CreateResponse } from './schema.ts'
import { APPLY_PATCH } from '../../../model/responses/items/apply-patch-call.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'

type ResponseCall = Pick<Call<unknown, CreateResponse>, 'deps' | 'caller' | 'body' | 'request'>

/** The request with all referenced objects; skills that it contains are kept in `inline`. Throws ServiceError. */
export async function makeRequest(call: ResponseCall, inline: InlineBundles): Promise<ResponseRequest> {
  const { body, deps } = call
  if (!deps.models.has(body.model)) throw modelMissing(body.model, deps.models.list())
  const conversationId = conversationIdOf(body)
  if (conversationId !== null && body.previous_response_id)
    throw new ServiceError(
      'invalid_request',
      'conversation and previous_response_id were both given, and each names a history. Send one of them.',
      {
        param: 'conversation',
      },
    )
  if (body.background === true && body.store === false)
    throw new ServiceError('invalid_request', 'A background response is read later, so it must be stored. Omit store.', {
      param: 'store',
    })
  if (typeof body.input !== 'string') refusePrivateImages(body.input, 'input')
  checkItems(body)
  checkTextFormat(body)
  const [attached, input, , interpreter] = await allInOrder([
    findAttached(call),
    resolveReferences(call, body.input),
    checkTools(call),
    findInterpreter(call, inline),
    conversationId === null ? null : conversationOf(call, conversationId, 'conversation'),
    body.previous_response_id ? previousOf(call, body.previous_response_id) : null,
  ])
  await checkOutputs(call, input)
  return {
    model: body.model,
    input: nameAttached(input, attached),
    instructions: body.instructions ?? null,
    tools: (body.tools ?? []).map(withoutInlineSkills),
    toolChoice: body.tool_choice ?? 'auto',
    interpreter: interpreter === null ? null : { ...interpreter, fileIds: [...new Set([...interpreter.fileIds, ...attached.keys()])] },
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
  }
}

/** The bytes of skills in the request are stored as objects, so the row and its echoes leave them out. */
function withoutInlineSkills<Tool extends Readonly<Record<string, unknown>>>(tool: Tool): Tool {
  const { environment } = tool
  if (tool['type'] !== 'shell' || typeof environment !== 'object' || environment === null || !('skills' in environment)) return tool
  return { ...tool, environment: { ...environment, skills: withoutInlineData(environment.skills) } }
}

/** Runs all checks at once; of several errors the first in this order counts. */
async function allInOrder<const Checks extends readonly unknown[]>(
  checks: Checks,
): Promise<{ -readonly [Index in keyof Checks]: Awaited<Checks[Index]> }> {
  const settled = await Promise.allSettled(checks)
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
  return Promise.all(checks)
}

/** The fields that the answer repeats. A missing field has the wire's default. */
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

/** Refuses unknown tools and tools that are disabled for the tenant. */
async function checkTools({ body, deps, caller }: ResponseCall): Promise<void> {
  const wanted = body.tools ?? []
  const builtIn = ['code_interpreter', 'shell', APPLY_PATCH, 'function']
  for (const [index, tool] of wanted.entries()) {
    if (tool.type === 'code_interpreter') within(`tools[${index}]`, () => validate(CodeInterpreterTool(), tool, 'body'))
    else if (tool.type === 'shell') within(`tools[${index}]`, () => validate(ShellTool(), tool, 'body'))
    else if (tool.type === 'function') within(`tools[${index}]`, () => validate(FunctionTool(), tool, 'body'))
    else if (tool.type !== APPLY_PATCH && !deps.toolTypes.some((names) => names.includes(tool.type))) {
      const known = [...builtIn, ...deps.toolTypes.map(([type]) => type)].join(', ')
      const sentence = `Tools of type ${JSON.stringify(tool.type.slice(0, 60))} are not offered here. Use one of ${known}.`
      throw new ServiceError('unsupported_value', sentence, { param: `tools[${index}].type` })
    }
  }
  checkToolChoice(body, deps.toolTypes)
  if (wanted.every((tool) => tool.type === 'function')) return
  const { toolsOff: off = [] } = await deps.limits.policyOf(caller.tenant)
  // A disabled tool is disabled under each of its names.
  const namesOf = (type: string): readonly string[] => deps.toolTypes.find((names) => names.includes(type)) ?? [type]
  const index = wanted.findIndex((tool) => namesOf(tool.type).some((name) => off.includes(name)))
  if (index === -1) return
  const sentence = `Tools of type ${JSON.stringify(wanted[index]?.type)} are switched off for this account. Leave it out, or ask the operator.`
  throw new ServiceError('unsupported_value', sentence, { param: `tools[${index}].type` })
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
