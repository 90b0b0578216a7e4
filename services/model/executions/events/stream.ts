import * as z from 'zod'
import { cellSchema, printedSchema, withoutNull } from '../event-schema.ts'
import { ofCell, type Logged, type SandboxEventType } from './sandbox-event-type.ts'

const schema = z.object({ ...ofCell, type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text: printedSchema })

/** Fields of `stdout` and `stderr` in the log. */
export const textFields = { cell: cellSchema, text: z.string() }

/** Printed text. */
export const stream: SandboxEventType<z.infer<typeof schema>, Logged<'stdout' | 'stderr', typeof textFields>> = {
  type: 'stream',
  schema,
  kind: ({ name }) => name,
  assemble({ index, name, text: printed }, outputs) {
    const text = withoutNull(printed)
    outputs.text[name].push(text)
    outputs.append(index, { output_type: 'stream', name, text })
  },
  logged: ({ name, text }, cell) => ({ type: name, cell, text }),
}
