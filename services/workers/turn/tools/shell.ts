import { shellCommand } from '../../../model/executions/command-arguments.ts'
import { LIMITS } from '../../../model/limits.ts'
import { SHELL, shellAction } from '../../../model/responses/items/shell-call.ts'
import type { CallerTool, ContainerTool } from '../../../ports/tool.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

/** Commands of one call. */
const MAX_COMMANDS = 32

/** The entry in `tools` that requests the shell. */
export const shellOf = ({ tools }: Pick<ResponseRequest, 'tools'>): Wire | null => tools.find((tool) => tool['type'] === SHELL) ?? null

/** Whether the caller runs the commands: without an environment, as OpenAI's wire has it, too. */
function isLocalShell(request: Pick<ResponseRequest, 'tools'>): boolean {
  const environment = shellOf(request)?.['environment'] as Wire | null | undefined
  return environment === null || environment === undefined || environment['type'] === 'local'
}

const HOSTED =
  'Runs command lines with bash in a Linux container, one after another, and returns stdout, stderr and exit code of each. Files in /mnt/data stay.'
const LOCAL = "Runs command lines on the user's computer and returns stdout, stderr and exit code of each."

/** The shell as a function for the model. Each command of a call is one job, unless the caller runs them. */
export function shellTool(request: Pick<ResponseRequest, 'tools'>): ContainerTool | CallerTool {
  const isLocal = isLocalShell(request)
  const description = {
    type: SHELL,
    name: SHELL,
    description: isLocal ? [LOCAL, ...localSkills(request)].join('\n') : HOSTED,
    parameters: {
      type: 'object',
      properties: {
        commands: { type: 'array', items: { type: 'string' }, description: 'Command lines, each run by its own shell.' },
        timeout_ms: { type: 'integer', description: 'How long each command may take, in milliseconds. Without it: two minutes.' },
        max_output_length: { type: 'integer', description: 'Characters of output to return for each command.' },
      },
      required: ['commands'],
      additionalProperties: false,
    },
  }
  return isLocal ? { ...description, answeredBy: 'caller' } : { ...description, answeredBy: 'container', jobsOf }
}

function jobsOf(args: Wire): ReturnType<ContainerTool['jobsOf']> {
  const { commands, timeoutMs } = shellAction(args)
  if (commands.length === 0)
    return { reason: 'no_commands', message: 'There is no list "commands" with command lines in the arguments. Nothing was run.' }
  if (commands.length > MAX_COMMANDS) {
    const message = `${commands.length} commands are more than ${MAX_COMMANDS}, the maximum of one call. Nothing was run. Join them in a script.`
    return { reason: 'too_many_commands', message }
  }
  const seconds = timeoutMs === null ? LIMITS.defaultTimeoutSeconds : Math.ceil(timeoutMs / 1000)
  const timeoutSeconds = Math.min(seconds, LIMITS.maxResponseSeconds)
  return commands.map((command) => {
    if (Buffer.byteLength(command) > LIMITS.maxCommandBytes)
      return {
        reason: 'command_too_big',
        message: `The command is longer than ${LIMITS.maxCommandBytes} bytes. Write its data to a file first.`,
      }
    const input = { stdin: null, hasOpenInput: false, pty: null, isBackground: false }
    return { source: { kind: 'command', argv: shellCommand(command), ...input }, timeoutSeconds }
  })
}

/** Skills on the caller's computer, as the request describes them. The system text names those of a container. */
function localSkills(request: Pick<ResponseRequest, 'tools'>): string[] {
  const { skills } = (shellOf(request)?.['environment'] ?? {}) as Wire
  if (!Array.isArray(skills) || skills.length === 0) return []
  const lines = (skills as Wire[]).map(
    ({ name, description, path }) =>
      `- ${JSON.stringify(name)}: ${JSON.stringify(description)}; read ${JSON.stringify(path)}/SKILL.md first`,
  )
  return ['Skills that can be used:', ...lines]
}
