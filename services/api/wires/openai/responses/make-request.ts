import { containerOf, conversationOf, findFile, responseOf } from '../../../access.ts'
import { checkMemory } from '../../../check-limits.ts'
import type { Call } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { refuseNetwork } from '../containers/schema.ts'
import { modelMissing } from '../models/routes.ts'
import { refusePrivateImages } from '../image-urls.ts'
import { checkItems, checkTextFormat, checkToolChoice } from './check-input.ts'
import { findAttached, nameAttached, resolveReferences } from './input-references.ts'
import { CodeInterpreterTool, FunctionTool, type CreateResponse } from './schema.ts'
import { ServiceError } from '../../../../core/errors.ts'
import type { InterpreterRequest, ResponseRequest } from '../../../../core/responses/response.ts'

type ResponseCall = Pick<Call<unknown, CreateResponse>, 'deps' | 'caller' | 'body'>

/** What the caller asked for, with everything it names found. Throws ServiceError. */
export async function makeRequest(call: ResponseCall): Promise<ResponseRequest> {
  const { body, deps } = call
  if (!deps.models.has(body.model)) throw modelMissing(body.model, deps.models.list())
  const conversationId = conversationIdOf(body)
  if (conversationId !== null && body.previous_response_id)
    throw new ServiceError('invalid_request', 'Give either conversation or previous_response_id: each names another history.', {
      param: 'conversation',
    })
  if (body.background === true && body.store === false)
    throw new ServiceError('invalid_request', 'A background response is read later, so it has to be stored. Leave store out.', {
      param: 'store',
    })
  if (typeof body.input !== 'string') refusePrivateImages(body.input, 'input')
  checkItems(body)
  checkTextFormat(body)
  const [attached, input, , interpreter] = await allInOrder([
    findAttached(call),
    resolveReferences(call, body.input),
    checkTools(call),
    findInterpreter(call),
    conversationId === null ? null : conversationOf(call, conversationId, 'conversation'),
    body.previous_response_id ? previousOf(call, body.previous_response_id) : null,
  ])
  return {
    model: body.model,
    input: nameAttached(input, attached),
    instructions: body.instructions ?? null,
    tools: body.tools ?? [],
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
    echoed: echoedFields(body),
  }
}

/** Clients recover from this code: they send the whole input instead. */
async function previousOf(call: ResponseCall, id: string): Promise<void> {
  await responseOf(call, id, 'previous_response_id').catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('previous_response_not_found', `Previous response with id ${JSON.stringify(id.slice(0, 80))} not found.`, {
      param: 'previous_response_id',
      cause: error,
    })
  })
}

/** Runs all checks at once; of several refusals the first in this order counts. */
async function allInOrder<const Checks extends readonly unknown[]>(
  checks: Checks,
): Promise<{ -readonly [Index in keyof Checks]: Awaited<Checks[Index]> }> {
  const settled = await Promise.allSettled(checks)
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
  return Promise.all(checks)
}

/** What comes back as it was sent. A field that was not sent has the wire's default. */
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

export const conversationIdOf = ({ conversation }: CreateResponse): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null)

/** A tool that is not here, or not for this tenant, would be offered to the model without effect. */
async function checkTools({ body, deps, caller }: ResponseCall): Promise<void> {
  const wanted = body.tools ?? []
  for (const [index, tool] of wanted.entries()) {
    if (tool.type === 'code_interpreter') within(`tools[${index}]`, () => validate(CodeInterpreterTool, tool, 'body'))
    else if (tool.type === 'function') within(`tools[${index}]`, () => validate(FunctionTool, tool, 'body'))
    else if (!deps.toolTypes.some((names) => names.includes(tool.type))) {
      const known = ['code_interpreter', 'function', ...deps.toolTypes.map(([type]) => type)].join(', ')
      const sentence = `Tools of type ${JSON.stringify(tool.type.slice(0, 60))} are not offered here. Use one of ${known}.`
      throw new ServiceError('unsupported_value', sentence, { param: `tools[${index}].type` })
    }
  }
  checkToolChoice(body)
  if (wanted.every((tool) => tool.type === 'function')) return
  const { toolsOff: off = [] } = await deps.limits.policyOf(caller.tenant)
  // One tool has several names, and each of them is off.
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

/** What the code_interpreter tool means. Its container and files have to be there, now and for this caller. */
async function findInterpreter(call: ResponseCall): Promise<InterpreterRequest | null> {
  const index = (call.body.tools ?? []).findIndex((tool) => tool.type === 'code_interpreter')
  if (index === -1) return null
  const { container } = validate(CodeInterpreterTool, call.body.tools?.[index], 'body')
  const param = `tools[${index}].container`
  if (typeof container === 'string') {
    const { id, memoryTier } = await containerOf(call, container, param)
    return { containerId: id, memoryTier, fileIds: [] }
  }
  const memoryTier = container?.memory_limit ?? '1g'
  await checkMemory(call.deps, call.caller.tenant, memoryTier, `${param}.memory_limit`)
  refuseNetwork(container?.network_policy, `${param}.network_policy`)
  const fileIds = [...new Set(container?.file_ids ?? [])]
  await Promise.all(fileIds.map((id) => findFile(call, id, `${param}.file_ids`)))
  return { containerId: null, memoryTier, fileIds }
}
