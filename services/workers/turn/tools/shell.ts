import { SHELL } from '../../../model/responses/items/shell-call.ts'
import type { Tool } from '../../../ports/tool.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

/** The entry in `tools` that requests the shell. */
export const shellOf = ({ tools }: Pick<ResponseRequest, 'tools'>): Wire | null => tools.find((tool) => tool['type'] === SHELL) ?? null

/** Whether the caller runs the commands: without an environment, as OpenAI's wire has it, too. */
export function isLocalShell(request: Pick<ResponseRequest, 'tools'>): boolean {
  const environment = shellOf(request)?.['environment'] as Wire | null | undefined
  return environment === null || environment === undefined || environment['type'] === 'local'
}

const HOSTED =
  'Runs command lines with bash in a Linux container, one after another, and returns stdout, stderr and exit code of each. Files in /mnt/data stay; there is no network.'
const LOCAL = "Runs command lines on the user's computer and returns stdout, stderr and exit code of each."

/** The shell as a function for the model. Its results come from commands of the container, or from the caller. */
export function shellTool(request: Pick<ResponseRequest, 'tools'>): Tool {
  const isLocal = isLocalShell(request)
  return {
    type: SHELL,
    name: SHELL,
    description: [isLocal ? LOCAL : HOSTED, ...localSkills(request)].join('\n'),
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
    limits: { timeoutMs: 0, maxResultChars: 20_000 },
    execute: () => Promise.reject(new Error('Commands of the shell run as commands of a container')),
  }
}

/** Skills on the caller's computer, as the request describes them. */
function localSkills(request: Pick<ResponseRequest, 'tools'>): string[] {
  const { skills } = (shellOf(request)?.['environment'] ?? {}) as Wire
  if (!Array.isArray(skills) || skills.length === 0) return []
  const lines = (skills as Wire[]).map(
    ({ name, description, path }) =>
      `- ${JSON.stringify(name)}: ${JSON.stringify(description)}; read ${JSON.stringify(path)}/SKILL.md first`,
  )
  return ['Skills that can be used:', ...lines]
}
