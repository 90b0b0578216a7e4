import { LIMITS } from '../../../model/limits.ts'
import { CODE_INTERPRETER } from '../../../model/responses/items/code-interpreter-call.ts'
import type { ContainerTool } from '../../../ports/tool.ts'

/** The built-in interpreter: the code of a call is one job. */
export const pythonTool: ContainerTool = {
  ...CODE_INTERPRETER,
  answeredBy: 'container',
  description:
    'Runs Python code in a notebook with persistent state and returns what it printed, its result, its error and the files that it made in /mnt/data.',
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'Python source; IPython magics and !shell lines work.' } },
    required: ['code'],
    additionalProperties: false,
  },
  jobsOf(args) {
    const code = String(args['code'])
    const bytes = Buffer.byteLength(code)
    if (bytes <= LIMITS.maxCodeBytes) return [{ source: { kind: 'code', code }, timeoutSeconds: LIMITS.defaultTimeoutSeconds }]
    const message = `The code has ${bytes} bytes; the maximum is ${LIMITS.maxCodeBytes}. Write less code, and put data into files.`
    return { reason: 'code_too_big', message }
  },
}
