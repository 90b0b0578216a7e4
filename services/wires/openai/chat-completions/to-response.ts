import { CreateResponse } from '../responses/schema.ts'
import type { ChatMessage, CreateChatCompletion } from './schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import { safeParse } from '../../../model/safe-parse.ts'

type Wire = Readonly<Record<string, unknown>>
type Item = Wire & { readonly type: string }

/** The container may be omitted on this wire, whose clients know no containers. */
const INTERPRETER: Wire = { type: 'code_interpreter', container: { type: 'auto' } }

/** The same turn as a request of the Responses wire. `hasInterpreter`: whether a request without `tools` gets the code interpreter. */
export function toCreateResponse(body: CreateChatCompletion, hasInterpreter: boolean): CreateResponse {
  const { reasoning_effort: effort, verbosity, response_format: format } = body
  const implied = hasInterpreter && body.tool_choice !== 'none' ? [INTERPRETER] : []
  const converted = safeParse(CreateResponse(), {
    model: body.model,
    input: body.messages.flatMap(itemsOf),
    tools: body.tools?.map(toolOf) ?? implied,
    tool_choice: choiceOf(body.tool_choice),
    parallel_tool_calls: body.parallel_tool_calls,
    stream: body.stream,
    store: body.store ?? false,
    metadata: body.metadata,
    max_output_tokens: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    user: body.user,
    reasoning: effort ? { effort } : null,
    text: format || verbosity ? { ...(format ? { format: formatOf(format) } : {}), ...(verbosity ? { verbosity } : {}) } : null,
    safety_identifier: body.safety_identifier,
    prompt_cache_key: body.prompt_cache_key,
    prompt_cache_retention: body.prompt_cache_retention,
    service_tier: body.service_tier,
  })
  if (converted.success) return converted.data
  const [issue] = converted.error.issues
  throw new ServiceError(
    'invalid_request',
    `A message or tool is not valid: ${issue?.message ?? 'unknown'}. Correct it and send the request again.`,
    { param: 'messages' },
  )
}

function itemsOf(message: ChatMessage, index: number): Item[] {
  if (message.role === 'tool') {
    if (typeof message.tool_call_id !== 'string')
      throw new ServiceError('invalid_request', 'A message of the role "tool" needs the tool_call_id of the call that it answers.', {
        param: `messages[${index}].tool_call_id`,
      })
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: textOf(message) }]
  }
  const content = contentOf(message, index)
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }))
  if (message.role !== 'assistant' || content.length > 0)
    return [{ type: 'message', role: message.role, content: content.length === 0 ? '' : content }, ...calls]
  return calls
}

const partsOf = ({ content }: ChatMessage): readonly Wire[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? [])

const textOf = (message: ChatMessage): string =>
  partsOf(message)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')

function contentOf(message: ChatMessage, index: number): Wire[] {
  const parts = partsOf(message).map((part, at) => partOf(part, message.role === 'assistant', `messages[${index}].content[${at}]`))
  return message.refusal ? [...parts, { type: 'refusal', refusal: message.refusal }] : parts
}

function partOf(part: Wire, isOutput: boolean, param: string): Wire {
  switch (part['type']) {
    case 'text':
      return { type: isOutput ? 'output_text' : 'input_text', text: part['text'] }
    case 'refusal':
      return { type: 'refusal', refusal: part['refusal'] }
    case 'image_url': {
      const image = objectOf(part['image_url'])
      return { type: 'input_image', image_url: image['url'], detail: image['detail'] ?? 'auto' }
    }
    case 'file': {
      const { file_id, file_data, filename } = objectOf(part['file'])
      return Object.fromEntries(
        Object.entries({ type: 'input_file', file_id, file_data, filename }).filter(([, value]) => value !== undefined && value !== null),
      )
    }
    default:
      throw new ServiceError(
        'unsupported_value',
        `${JSON.stringify(String(part['type']).slice(0, 60))} content parts are not supported. Use one of text, image_url, file, refusal.`,
        { param: `${param}.type` },
      )
  }
}

/** A function is nested on this wire and flat on the Responses wire; other tools are the same on both. */
function toolOf(tool: Wire): Wire {
  if (tool['type'] === 'function') return { type: 'function', ...objectOf(tool['function']) }
  return tool['type'] === 'code_interpreter' ? { ...INTERPRETER, ...tool } : tool
}

function choiceOf(choice: CreateChatCompletion['tool_choice']): unknown {
  if (typeof choice !== 'object' || choice === null) return choice
  if (choice.type === 'function') return { type: 'function', name: objectOf(choice['function'])['name'] }
  if (choice.type !== 'allowed_tools') return choice
  const { mode, tools } = objectOf(choice['allowed_tools'])
  return { type: 'allowed_tools', mode, tools: Array.isArray(tools) ? tools.map((tool) => toolOf(objectOf(tool))) : [] }
}

const formatOf = (format: Wire): Wire =>
  format['type'] === 'json_schema' ? { type: 'json_schema', ...objectOf(format['json_schema']) } : format

const objectOf = (value: unknown): Wire => (typeof value === 'object' && value !== null ? (value as Wire) : {})
