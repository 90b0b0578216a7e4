import type { ModelRequest } from '../../core/ports/chat-model.ts'
import type { Tool } from '../../core/ports/tool.ts'
import type { ResponseRequest } from '../../core/response.ts'
import type { CallKind } from '../answer/open-call.ts'
import { PYTHON, pythonTool } from './python.ts'

type Wire = Readonly<Record<string, unknown>>

export interface OfferedTools {
  /** For the model. */
  readonly tools: ModelRequest['tools']
  readonly choice: ModelRequest['toolChoice']
  kindOf(name: string): CallKind | null
  /** The tool of this server with that name. */
  find(name: string): Tool | null
}

/**
 * What the request lets the model call: the interpreter, tools of this server that it names by type, and functions of the caller. A
 * caller's function wins over a server's tool of the same name. `isFirst`: a forced choice holds for the first call only.
 */
export function offerTools(request: ResponseRequest, serverTools: readonly Tool[], isFirst: boolean): OfferedTools {
  const functions = request.tools.filter((tool) => tool['type'] === 'function').map(functionTool)
  const isTaken = (name: string): boolean => functions.some((tool) => tool.name === name)
  const types = new Set(request.tools.map((tool) => tool['type']))
  const own = [...(request.interpreter === null ? [] : [pythonTool]), ...serverTools.filter((tool) => types.has(tool.type))].filter(
    (tool) => !isTaken(tool.name),
  )
  const all = [...own.map(({ name, description, parameters }) => ({ name, description, parameters })), ...functions]
  const { allowed, choice } = readChoice(request.toolChoice)
  const tools = allowed === null ? all : all.filter((tool) => allowed.includes(tool.name))
  const isForced = choice === 'required' || typeof choice === 'object'
  return {
    tools,
    choice: tools.length === 0 ? 'none' : isForced && !isFirst ? 'auto' : choice,
    kindOf: (name) => (isTaken(name) ? 'caller' : !own.some((tool) => tool.name === name) ? null : name === PYTHON ? 'code' : 'server'),
    find: (name) => own.find((tool) => tool.name === name) ?? null,
  }
}

const functionTool = (tool: Wire): ModelRequest['tools'][number] => ({
  name: String(tool['name']),
  description: typeof tool['description'] === 'string' ? tool['description'] : '',
  parameters: (tool['parameters'] ?? { type: 'object', properties: {} }) as Wire,
})

function readChoice(raw: unknown): { readonly allowed: readonly string[] | null; readonly choice: ModelRequest['toolChoice'] } {
  if (raw === 'none' || raw === 'required') return { allowed: null, choice: raw }
  if (typeof raw !== 'object' || raw === null) return { allowed: null, choice: 'auto' }
  const choice = raw as Wire
  if (choice['type'] === 'allowed_tools' && Array.isArray(choice['tools'])) {
    return { allowed: (choice['tools'] as Wire[]).map(nameOf), choice: choice['mode'] === 'required' ? 'required' : 'auto' }
  }
  const name = nameOf(choice)
  return { allowed: null, choice: name === '' ? 'auto' : { name } }
}

const nameOf = (tool: Wire): string => (tool['type'] === 'code_interpreter' ? PYTHON : typeof tool['name'] === 'string' ? tool['name'] : '')
