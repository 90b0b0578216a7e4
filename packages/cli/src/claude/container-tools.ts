import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import { fileToolCode } from './file-tools.ts'
import type { SessionContainer, ToolRun } from './session-container.ts'

/** The service ends a tool call after 120 s. */
const TIMEOUT_SECONDS = 110
const MAX_RESULT_CHARACTERS = 100 * 1024

const text = { type: 'string' } as const
/** The tools of `agent_toolset_20260401` by their names, with the schemas of their inputs. */
const SCHEMAS: Readonly<Record<string, { readonly properties: Readonly<Record<string, object>>; readonly required: readonly string[] }>> = {
  bash: { properties: { command: text, restart: { type: 'boolean' }, timeout_ms: { type: 'integer' } }, required: [] },
  read: { properties: { file_path: text, view_range: { type: 'array', items: { type: 'integer' } } }, required: ['file_path'] },
  write: { properties: { file_path: text, content: text }, required: ['file_path', 'content'] },
  edit: {
    properties: { file_path: text, old_string: text, new_string: text, replace_all: { type: 'boolean' } },
    required: ['file_path', 'old_string', 'new_string'],
  },
  glob: { properties: { pattern: text, path: text }, required: ['pattern'] },
  grep: { properties: { pattern: text, path: text }, required: ['pattern'] },
}

interface BashInput {
  readonly command?: string
  readonly restart?: boolean
  readonly timeout_ms?: number
}

/** The six tools as calls of a container. `prepare` runs before the first one. */
export function containerTools(container: SessionContainer, prepare: (signal: AbortSignal) => Promise<void>): BetaRunnableTool[] {
  return Object.entries(SCHEMAS).map(([name, { properties, required }]) => ({
    name,
    input_schema: { type: 'object', properties, required: [...required] },
    parse: (content) => content,
    async run(input: unknown, context) {
      const callId = context?.toolUse.id
      if (callId === undefined) throw new ToolError('The call has no id.')
      const signal = context?.signal ?? new AbortController().signal
      await prepare(signal)
      const call = { callId, signal }
      return name === 'bash' ? runBash(container, input as BashInput, call) : runFileTool(container, { name, input }, call)
    },
  }))
}

interface Call {
  readonly callId: string
  readonly signal: AbortSignal
}

/** Variables, functions and the folder last from call to call. `exit` ends the shell, and the next call gets a new one. */
async function runBash(
  container: SessionContainer,
  { command = '', restart = false, timeout_ms: timeoutMs }: BashInput,
  call: Call,
): Promise<string> {
  const timeoutSeconds = Math.min(TIMEOUT_SECONDS, Math.max(1, Math.ceil((timeoutMs ?? TIMEOUT_SECONDS * 1000) / 1000)))
  if (restart) await container.run({ ...call, callId: `${call.callId}:restart`, language: 'bash', code: 'exit', timeoutSeconds })
  if (command === '') {
    if (restart) return 'The shell was restarted.'
    throw new ToolError('Give a command, or restart.')
  }
  const run = await container.run({ ...call, language: 'bash', code: command, timeoutSeconds })
  const output = clipped([run.stdout, run.stderr].filter((part) => part !== '').join(run.stdout.endsWith('\n') ? '' : '\n'))
  if (run.status !== 'succeeded')
    throw new ToolError([output.trimEnd(), endOf(run, timeoutSeconds)].filter((part) => part !== '').join('\n'))
  return output
}

async function runFileTool(
  container: SessionContainer,
  { name, input }: { readonly name: string; readonly input: unknown },
  call: Call,
): Promise<string> {
  const run = await container.run({ ...call, language: 'python', code: fileToolCode(name, input), timeoutSeconds: TIMEOUT_SECONDS })
  if (run.status !== 'succeeded') throw new ToolError(`${name}: ${endOf(run, TIMEOUT_SECONDS)}`)
  const { text: result, error } = JSON.parse(run.stdout) as { readonly text?: string; readonly error?: string }
  if (error !== undefined) throw new ToolError(`${name}: ${error}`)
  return clipped(result ?? '')
}

const endOf = ({ status, error }: ToolRun, timeoutSeconds: number): string =>
  status === 'timed_out'
    ? `It was ended after ${timeoutSeconds} s.`
    : error === null
      ? `It ended as ${status}.`
      : `${error.name}: ${error.value}`

const clipped = (output: string): string =>
  output.length <= MAX_RESULT_CHARACTERS
    ? output
    : `${output.slice(0, MAX_RESULT_CHARACTERS)}\n[output cut after ${MAX_RESULT_CHARACTERS} characters]`
