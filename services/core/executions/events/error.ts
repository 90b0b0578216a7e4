import { z } from 'zod'
import { errorFields } from '../event-schema.ts'
import type { Output } from '../outputs.ts'
import { ofCell, type SandboxEventType } from './sandbox-event-type.ts'

const schema = z.object({ ...ofCell, type: z.literal('error'), ...errorFields })

interface Logged {
  readonly type: 'output'
  readonly cell: number
  readonly output: Output
}

/** An error that a cell displayed. */
export const error: SandboxEventType<z.infer<typeof schema>, Logged> = {
  type: 'error',
  schema,
  kind: () => 'error',
  assemble(event, outputs) {
    const { index, name, value, traceback } = event
    outputs.cell(index).error = { name, value, traceback }
    outputs.append(index, outputOf(event))
  },
  logged: (event, cell) => ({ type: 'output', cell, output: outputOf(event) }),
}

const outputOf = ({ name, value, traceback }: z.infer<typeof schema>): Output => ({
  output_type: 'error',
  ename: name,
  evalue: value,
  traceback,
})
