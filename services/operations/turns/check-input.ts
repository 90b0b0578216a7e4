import { decodeSummary } from '../../model/responses/compaction.ts'
import { ServiceError } from '../../model/errors.ts'
import { APPLY_PATCH } from '../../model/responses/items/apply-patch-call.ts'
import { ITEM_TYPES } from '../../model/responses/items/item-types.ts'
import type { ResponseRequest } from '../../model/responses/response.ts'
import type { TurnPorts, TurnRequest } from './turn-request.ts'

type Wire = Readonly<Record<string, unknown>>

/** Types of items that the model receives. */
const INPUT_ITEMS: readonly string[] = [
  ...ITEM_TYPES.map(({ type }) => type),
  'function_call_output',
  'apply_patch_call_output',
  'compaction',
  'item_reference',
]

/** Items that describe how an earlier answer was created; the model need not read them again. */
const IGNORED_ITEMS = ['reasoning', 'mcp_list_tools']
const PARTS = ['input_text', 'output_text', 'text', 'refusal', 'input_image', 'input_file', 'summary_text', 'reasoning_text']

/**
 * Refuses items and content parts that the model would not receive. Throws ServiceError: an answer to part of the input would be an answer to
 * something else.
 */
export function checkItems({ input }: Pick<ResponseRequest, 'input'>): void {
  if (typeof input === 'string') return
  for (const [index, item] of input.entries()) {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    if (!INPUT_ITEMS.includes(type) && !IGNORED_ITEMS.includes(type))
      throw unknown({ what: 'items', type, known: INPUT_ITEMS, param: `input[${index}].type` })
    if (type === 'compaction' && decodeSummary(item['encrypted_content']) === null)
      throw new ServiceError('unsupported_value', FOREIGN_COMPACTION, { param: `input[${index}].encrypted_content` })
    if (Array.isArray(item['content']) && type === 'message')
      for (const [at, part] of (item['content'] as readonly Wire[]).entries()) {
        const kind = String(part['type'])
        if (!PARTS.includes(kind))
          throw unknown({ what: 'content parts', type: kind, known: PARTS, param: `input[${index}].content[${at}].type` })
      }
  }
}

const FOREIGN_COMPACTION =
  'Another service wrote this compaction item, so its content cannot be read here. Send the messages of the conversation instead.'

const unknown = ({
  what,
  type,
  known,
  param,
}: {
  readonly what: string
  readonly type: string
  readonly known: readonly string[]
  readonly param: string
}): ServiceError =>
  new ServiceError('unsupported_value', `${JSON.stringify(type.slice(0, 60))} ${what} are not supported. Use one of ${known.join(', ')}.`, {
    param,
  })

const FORMATS = ['text', 'json_object', 'json_schema']

/** Throws ServiceError for a format that no model supports. */
export function checkTextFormat({ echoed }: Pick<ResponseRequest, 'echoed'>): void {
  const format = (echoed?.['text'] as Wire | undefined)?.['format'] as Wire | null | undefined
  if (format === null || format === undefined) return
  const param = 'text.format'
  if (!FORMATS.includes(String(format['type'])))
    throw unknown({ what: 'formats', type: String(format['type']), known: FORMATS, param: `${param}.type` })
  if (format['type'] !== 'json_schema') return
  if (typeof format['name'] !== 'string' || !/^[\w-]{1,64}$/.test(format['name']))
    throw new ServiceError('invalid_request', `'${param}.name' must be 1 to 64 letters, digits, "_" or "-".`, { param: `${param}.name` })
  if (typeof format['schema'] !== 'object' || format['schema'] === null || Array.isArray(format['schema']))
    throw new ServiceError('invalid_request', `'${param}.schema' must be a JSON schema object.`, { param: `${param}.schema` })
}

/**
 * Throws ServiceError when `tool_choice` names a tool that is not among the tools, or requires one where there is none. `toolTypes`: the names of each
 * tool of this server.
 */
function checkToolChoice({ toolChoice, tools: offered }: TurnRequest['request'], toolTypes: TurnPorts['toolTypes']): void {
  const choice = toolChoice as Wire | string
  if (choice === 'required' && offered.length === 0)
    throw new ServiceError('invalid_request', 'tool_choice is "required", but tools is empty. Add a tool, or omit tool_choice.', {
      param: 'tool_choice',
    })
  if (typeof choice !== 'object') return
  const isAllowedTools = choice['type'] === 'allowed_tools'
  const wanted = isAllowedTools ? (Array.isArray(choice['tools']) ? (choice['tools'] as unknown[]) : []) : [choice]
  for (const [index, one] of wanted.entries()) {
    const { type, name } = (typeof one === 'object' && one !== null ? one : {}) as Wire
    const names: readonly unknown[] = toolTypes.find((types) => types.includes(String(type))) ?? [type]
    if (offered.some((tool) => (type === 'function' ? tool['type'] === type && tool['name'] === name : names.includes(tool['type']))))
      continue
    const what = type === 'function' ? `the function ${JSON.stringify(name)}` : `the tool ${JSON.stringify(type)}`
    throw new ServiceError('invalid_request', `tool_choice names ${what.slice(0, 200)}, which is not in tools. Add it to tools.`, {
      param: isAllowedTools ? `tool_choice.tools[${index}]` : 'tool_choice',
    })
  }
}

/** Refuses unknown tools and tools that are disabled for the tenant. */
export async function checkTools({ toolTypes, limits }: TurnPorts, { caller, request }: TurnRequest): Promise<void> {
  const wanted = request.tools.map((tool) => String(tool['type']))
  const builtIn = ['code_interpreter', 'shell', APPLY_PATCH, 'function']
  for (const [index, type] of wanted.entries()) {
    if (builtIn.includes(type) || toolTypes.some((names) => names.includes(type))) continue
    const known = [...builtIn, ...toolTypes.map(([name]) => name)].join(', ')
    const sentence = `Tools of type ${JSON.stringify(type.slice(0, 60))} are not offered here. Use one of ${known}.`
    throw new ServiceError('unsupported_value', sentence, { param: `tools[${index}].type` })
  }
  checkToolChoice(request, toolTypes)
  if (wanted.every((type) => type === 'function')) return
  const { toolsOff: off = [] } = await limits.policyOf(caller.tenant)
  // A disabled tool is disabled under each of its names.
  const namesOf = (type: string): readonly string[] => toolTypes.find((names) => names.includes(type)) ?? [type]
  const index = wanted.findIndex((type) => namesOf(type).some((name) => off.includes(name)))
  if (index === -1) return
  const sentence = `Tools of type ${JSON.stringify(wanted[index])} are switched off for this account. Leave it out, or ask the operator.`
  throw new ServiceError('unsupported_value', sentence, { param: `tools[${index}].type` })
}
