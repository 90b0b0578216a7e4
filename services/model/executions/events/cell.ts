import * as z from 'zod'
import { executionCountSchema } from '../event-schema.ts'
import { numbered, ofCell, type SandboxEventType } from './sandbox-event-type.ts'

const startedSchema = z.object({ ...numbered, type: z.literal('started') })

export const started: SandboxEventType<z.infer<typeof startedSchema>> = { type: 'started', schema: startedSchema }

const cellStartedSchema = z
  .object({ ...ofCell, type: z.literal('cell_started'), execution_count: executionCountSchema })
  .transform(({ execution_count: executionCount, ...event }) => ({ ...event, executionCount }))

export const cellStarted: SandboxEventType<z.infer<typeof cellStartedSchema>> = {
  type: 'cell_started',
  schema: cellStartedSchema,
  assemble(event, outputs) {
    outputs.cell(event.index).executionCount = event.executionCount
  },
}

const cellDoneSchema = z
  .object({
    ...ofCell,
    type: z.literal('cell_done'),
    status: z.enum(['ok', 'error', 'aborted']),
    execution_count: executionCountSchema,
  })
  .transform(({ execution_count: executionCount, ...event }) => ({ ...event, executionCount }))

export const cellDone: SandboxEventType<z.infer<typeof cellDoneSchema>> = {
  type: 'cell_done',
  schema: cellDoneSchema,
  assemble(event, outputs) {
    const cell = outputs.cell(event.index)
    cell.status = event.status
    cell.executionCount = event.executionCount ?? cell.executionCount
    if (event.status === 'error') outputs.error ??= cell.error
  },
}
