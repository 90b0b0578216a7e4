import * as z from 'zod'
import { errorFields, type outputFields } from '../event-schema.ts'
import type { Output } from '../outputs.ts'
import { ofCell, type Logged, type SandboxEventType } from './sandbox-event-type.ts'

const schema = z.object({ ...ofCell, type: z.literal('error'), ...errorFields })

/** An error that a cell displayed. */
export const error: SandboxEventType<z.infer<typeof schema>, Logged<'output', typeof outputFields>> = {
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
