import type { ModelRequest } from '../../../ports/chat-model.ts'
import type { ServerTool, Tool } from '../../../ports/tool.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'
import { CALLERS_FUNCTION, callKindOf, type CallKind } from '../../../model/responses/items/item-types.ts'
import { APPLY_PATCH } from '../../../model/responses/items/apply-patch-call.ts'
import { applyPatchTool } from './apply-patch.ts'
import { pythonTool } from './python.ts'
import { shellOf, shellTool } from './shell.ts'

type Wire = Readonly<Record<string, unknown>>

export interface OfferedTools {
  /** For the model. */
  readonly tools: ModelRequest['tools']
  readonly choice: ModelRequest['toolChoice']
  kindOf(name: string): CallKind | null
  /** The offered tool with that name, unless it is a function of the caller. */
  find(name: string): Tool | null
}

/** Whether a request that names this type means this tool. */
export const isOfType = (tool: Pick<Tool, 'type' | 'aliases'>, type: unknown): boolean =>
  tool.type === type || (tool.aliases?.includes(String(type)) ?? false)

/**
 * What the request lets the model call: the interpreter, tools of this server that it names by type, and functions of the caller. A
 * caller's function wins over a server's tool of the same name. `isFirst`: a forced choice holds for the first call only.
 */
export function offerTools(request: ResponseRequest, serverTools: readonly ServerTool[], isFirst: boolean): OfferedTools {
  const functions = request.tools.filter((tool) => tool['type'] === 'function').map(functionTool)
  const isTaken = (name: string): boolean => functions.some((tool) => tool.name === name)
  const isWanted = (tool: Tool): boolean => request.tools.some((wanted) => isOfType(tool, wanted['type']))
  const hasPython = request.interpreter !== null && request.interpreter.isShellOnly !== true
  const hasPatch = request.tools.some((tool) => tool['type'] === APPLY_PATCH)
  const builtIn: readonly Tool[] = [
    ...(hasPython ? [pythonTool] : []),
    ...(shellOf(request) === null ? [] : [shellTool(request)]),
    ...(hasPatch ? [applyPatchTool] : []),
  ]
  const own = [...builtIn, ...serverTools.filter(isWanted)].filter((tool) => !isTaken(tool.name))
  const all = [...own.map(({ name, description, parameters }) => ({ name, description, parameters })), ...functions]
  const { allowed, choice } = readChoice(request.toolChoice, own)
  const tools = allowed === null ? all : all.filter((tool) => allowed.includes(tool.name))
  const isForced = choice === 'required' || typeof choice === 'object'
  const find = (name: string): Tool | null => (isTaken(name) ? null : (own.find((tool) => tool.name === name) ?? null))
  return {
    tools,
    choice: tools.length === 0 ? 'none' : isForced && !isFirst ? 'auto' : choice,
    kindOf: (name) => {
      if (isTaken(name)) return CALLERS_FUNCTION
      const tool = find(name)
      return tool && callKindOf(name, tool.answeredBy)
    },
    find,
  }
}

const functionTool = (tool: Wire): ModelRequest['tools'][number] => ({
  name: String(tool['name']),
  description: typeof tool['description'] === 'string' ? tool['description'] : '',
  parameters: (tool['parameters'] ?? { type: 'object', properties: {} }) as Wire,
})

interface Choice {
  readonly allowed: readonly string[] | null
  readonly choice: ModelRequest['toolChoice']
}

function readChoice(raw: unknown, own: readonly Tool[]): Choice {
  if (raw === 'none' || raw === 'required') return { allowed: null, choice: raw }
  if (typeof raw !== 'object' || raw === null) return { allowed: null, choice: 'auto' }
  const choice = raw as Wire
  if (choice['type'] === 'allowed_tools' && Array.isArray(choice['tools'])) {
    const allowed = (choice['tools'] as Wire[]).map((tool) => nameOf(tool, own))
    return { allowed, choice: choice['mode'] === 'required' ? 'required' : 'auto' }
  }
  const name = nameOf(choice, own)
  return { allowed: null, choice: name === '' ? 'auto' : { name } }
}

/** A tool of this server is chosen by its type, a function by its name. */
const nameOf = (chosen: Wire, own: readonly Tool[]): string =>
  own.find((tool) => isOfType(tool, chosen['type']))?.name ?? (typeof chosen['name'] === 'string' ? chosen['name'] : '')
