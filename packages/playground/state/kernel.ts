import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { Execution } from '../api/types.ts'
import { currentChat } from './chats.ts'
import { addEntries } from './conversation.ts'

export interface Variable {
  readonly name: string
  readonly type: string
  readonly size: string
  readonly value: string
}

export const variables = signal<readonly Variable[]>([])
export const variablesFailure = signal<string | null>(null)

/** Longest wait for an answer of the kernel, seconds. */
const WAIT_SECONDS = 20

/** Runs code that is no cell: it leaves no name behind and shows nothing. Returns what it printed. */
async function askKernel(code: string): Promise<string> {
  const { containerId } = currentChat.value
  if (containerId === null) return ''
  const { stdout, status } = await call<Execution>(`/v1/containers/${containerId}/executions?wait=${WAIT_SECONDS}`, {
    body: { code, language: 'python', timeout_seconds: WAIT_SECONDS, metadata: { page: 'kernel' } },
  })
  return status === 'succeeded' ? stdout : ''
}

const MAX_VARIABLES = 200
const LIST_VARIABLES = `(lambda json, types, ns: print(json.dumps([
  [n, type(v).__name__, str(getattr(v, 'shape', '') or (len(v) if hasattr(v, '__len__') else '')), repr(v)[:200] if isinstance(v, (int, float, str, bool, bytes, type(None))) or (hasattr(v, '__len__') and not hasattr(v, 'shape') and len(v) < 50) else '']
  for n, v in sorted(ns.items()) if not n.startswith('_') and n not in ('In', 'Out', 'exit', 'quit', 'get_ipython', 'open', 'input', 'display') and not isinstance(v, (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type))
][:${MAX_VARIABLES}])))(__import__('json'), __import__('types'), dict(globals()))`

/** Reads the variables of Python. */
export async function refreshVariables(): Promise<void> {
  try {
    const found = JSON.parse((await askKernel(LIST_VARIABLES)) || '[]') as readonly (readonly [string, string, string, string])[]
    variables.value = found.map(([name, type, size, value]) => ({ name, type, size, value }))
    variablesFailure.value = null
  } catch (error) {
    variablesFailure.value = messageOf(error)
  }
}

/** Names that could stand at the cursor, from the kernel; the shared beginning comes first. */
export async function completionsOf(code: string, cursor: number): Promise<{ readonly start: number; readonly names: readonly string[] }> {
  const program = `(lambda ip, code, at: print(__import__('json').dumps((lambda found: [found[0], found[1][:50]])(ip.complete(None, code, at)))))(get_ipython(), ${JSON.stringify(
    code.slice(code.lastIndexOf('\n', cursor - 1) + 1, cursor),
  )}, None)`
  const [text, names] = JSON.parse((await askKernel(program)) || '["", []]') as readonly [string, readonly string[]]
  return { start: cursor - text.length, names }
}

/** Ends the Python process: variables are gone, files stay. */
export async function restartKernel(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null) return
  const say = (text: string): void => addEntries({ kind: 'notice', key: crypto.randomUUID(), id: null, text })
  try {
    await call<Execution>(`/v1/containers/${containerId}/executions?wait=${WAIT_SECONDS}`, {
      body: { code: 'import os; os._exit(0)', language: 'python', metadata: { page: 'kernel' } },
    })
    variables.value = []
    say('Python was restarted: its variables are gone, the files are kept.')
  } catch (error) {
    say(messageOf(error))
  }
}
