import { z } from 'zod'
import { textSchema } from '../event-schema.ts'
import { ofCell, type SandboxEventType } from './sandbox-event-type.ts'

const schema = z.object({ ...ofCell, type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text: textSchema })

interface Logged {
  readonly type: 'stdout' | 'stderr'
  readonly cell: number
  readonly text: string
}

/** Printed text. */
export const stream: SandboxEventType<z.infer<typeof schema>, Logged> = {
  type: 'stream',
  schema,
  kind: ({ name }) => name,
  assemble({ index, name, text }, outputs) {
    outputs.text[name].push(text)
    outputs.append(index, { output_type: 'stream', name, text })
  },
  logged: ({ name, text }, cell) => ({ type: name, cell, text }),
}
