import { LIMITS } from '../../../model/limits.ts'
import { CODE_INTERPRETER } from '../../../model/responses/items/code-interpreter-call.ts'
import type { Tool } from '../../../ports/tool.ts'

/** The built-in interpreter. Its result comes later: the code runs in the response's container. */
export const pythonTool: Tool = {
  ...CODE_INTERPRETER,
  description:
    'Runs Python code in a notebook with persistent state and returns what it printed, its result, its error and the files that it made in /mnt/data. No network.',
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'Python source; IPython magics and !shell lines work.' } },
    required: ['code'],
    additionalProperties: false,
  },
  limits: { timeoutMs: LIMITS.defaultTimeoutSeconds * 1000, maxResultChars: 20_000 },
  execute: (args) => {
    const { code } = args
    if (typeof code === 'string') return Promise.resolve({ kind: 'code', code })
    return Promise.resolve({ kind: 'text', text: 'There is no string "code" in the arguments.', isError: true })
  },
}
