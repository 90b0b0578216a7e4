import { ServiceError } from '../../../../core/errors.ts'
import { INPUT_ITEMS, type CreateResponse } from './schema.ts'

type Wire = Readonly<Record<string, unknown>>

/** They describe how an earlier answer was made and contain nothing that the model has to read again. */
const IGNORED_ITEMS = ['reasoning', 'compaction', 'mcp_list_tools']
const PARTS = ['input_text', 'output_text', 'text', 'refusal', 'input_image', 'input_file', 'summary_text', 'reasoning_text']

/**
 * Refuses items and content parts that the model would not receive, and outputs of functions that nothing called. Throws ServiceError: an answer
 * to part of the input would be an answer to something else.
 */
export function checkItems({ input, previous_response_id: previous, conversation }: CreateResponse): void {
  if (typeof input === 'string') return
  const hasHistory = Boolean(previous) || Boolean(conversation) || input.some((item) => item.type === 'item_reference')
  const called = new Set(input.filter((item) => item.type === 'function_call').map((item) => item['call_id']))
  for (const [index, item] of input.entries()) {
    const type = item.type ?? 'message'
    if (!INPUT_ITEMS.includes(type) && !IGNORED_ITEMS.includes(type)) throw unknown('items', type, INPUT_ITEMS, `input[${index}].type`)
    if (type === 'function_call_output' && !hasHistory && !called.has(item['call_id']))
      throw new ServiceError(
        'invalid_request',
        `No function call in the input has the call_id ${JSON.stringify(String(item['call_id']).slice(0, 80))} of this output. Send the call as well, or previous_response_id.`,
        { param: `input[${index}].call_id` },
      )
    if (Array.isArray(item.content) && type === 'message')
      for (const [at, part] of (item.content as readonly Wire[]).entries()) {
        const kind = String(part['type'])
        if (!PARTS.includes(kind)) throw unknown('content parts', kind, PARTS, `input[${index}].content[${at}].type`)
      }
  }
}

const unknown = (what: string, type: string, known: readonly string[], param: string): ServiceError =>
  new ServiceError('unsupported_value', `${JSON.stringify(type.slice(0, 60))} ${what} are not read here. Use one of ${known.join(', ')}.`, {
    param,
  })

const FORMATS = ['text', 'json_object', 'json_schema']

/** Throws ServiceError for a format that no model here can have. */
export function checkTextFormat({ text }: CreateResponse): void {
  const format = text?.format as Wire | null | undefined
  if (format === null || format === undefined) return
  const param = 'text.format'
  if (!FORMATS.includes(String(format['type']))) throw unknown('formats', String(format['type']), FORMATS, `${param}.type`)
  if (format['type'] !== 'json_schema') return
  if (typeof format['name'] !== 'string' || !/^[\w-]{1,64}$/.test(format['name']))
    throw new ServiceError('invalid_request', `'${param}.name' must be 1 to 64 letters, digits, "_" or "-".`, { param: `${param}.name` })
  if (typeof format['schema'] !== 'object' || format['schema'] === null || Array.isArray(format['schema']))
    throw new ServiceError('invalid_request', `'${param}.schema' must be a JSON schema object.`, { param: `${param}.schema` })
}

/** Throws ServiceError when `tool_choice` names a function that is not among the tools, or requires a tool where there is none. */
export function checkToolChoice({ tool_choice: choice, tools }: CreateResponse): void {
  const offered = tools ?? []
  if (choice === 'required' && offered.length === 0)
    throw new ServiceError('invalid_request', 'tool_choice "required" needs at least one entry in tools.', { param: 'tool_choice' })
  if (typeof choice !== 'object' || choice === null || choice.type !== 'function') return
  const name = choice['name']
  if (offered.some((tool) => tool.type === 'function' && tool['name'] === name)) return
  throw new ServiceError('invalid_request', `tool_choice names the function ${JSON.stringify(name)}, which is not in tools.`, {
    param: 'tool_choice',
  })
}
