import { APPLY_PATCH } from '../../../model/responses/items/apply-patch-call.ts'
import type { CallerTool } from '../../../ports/tool.ts'

const DESCRIPTION = `Changes one file of the user's workspace. The user applies the change and returns whether it succeeded; the sandbox does not have these files.
- "update_file": "diff" has one or more sections. A section begins with a line "@@", which may name the function or class that contains it, then has lines that begin with " " (unchanged), "-" (removed) or "+" (added), with about three unchanged lines around each change. There are no line numbers.
- "create_file": every line of "diff" begins with "+" and is a line of the new file.
- "delete_file": without "diff".`

/** The change of a file as a function for the model. The caller applies it. */
export const applyPatchTool: CallerTool = {
  answeredBy: 'caller',
  type: APPLY_PATCH,
  name: APPLY_PATCH,
  description: DESCRIPTION,
  parameters: {
    type: 'object',
    properties: {
      type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
      path: { type: 'string', description: 'Relative to the root of the workspace.' },
      diff: { type: 'string', description: 'The change, for create_file and update_file.' },
    },
    required: ['type', 'path'],
    additionalProperties: false,
  },
}
