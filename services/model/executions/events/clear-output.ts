import * as z from 'zod'
import { cellSchema } from '../event-schema.ts'
import { removeOutputs } from './cell-outputs.ts'
import { ofCell, type Logged, type SandboxEventType } from './sandbox-event-type.ts'

const schema = z.object({ ...ofCell, type: z.literal('clear_output'), wait: z.boolean() })

/** `wait`: the outputs stay until the next one. */
export const clearFields = { cell: cellSchema, wait: z.boolean() }

/** Removes the outputs of a cell. */
export const clearOutput: SandboxEventType<z.infer<typeof schema>, Logged<'clear', typeof clearFields>> = {
  type: 'clear_output',
  schema,
  assemble({ index, wait }, outputs) {
    const cell = outputs.cell(index)
    if (wait) cell.clearsOnNext = true
    else removeOutputs(cell)
  },
  logged: ({ wait }, cell) => ({ type: 'clear', cell, wait }),
}
