import * as z from 'zod'
import { bundleSchema, EVENT_BOUNDS, executionCountSchema, metadataSchema, type outputFields } from '../event-schema.ts'
import type { Output } from '../outputs.ts'
import { ofCell, type Logged, type SandboxEventType } from './sandbox-event-type.ts'

const displayIdSchema = z.string().max(EVENT_BOUNDS.idCharacters)

const displaySchema = z
  .object({
    ...ofCell,
    type: z.literal('display'),
    output_type: z.enum(['display_data', 'execute_result']),
    data: bundleSchema,
    metadata: metadataSchema,
    execution_count: executionCountSchema,
    transient: z.object({ display_id: displayIdSchema.nullish() }).nullish(),
  })
  .transform(({ output_type: outputType, execution_count: executionCount, transient, ...event }) => ({
    ...event,
    outputType,
    executionCount,
    displayId: transient?.display_id ?? null,
  }))

export const display: SandboxEventType<z.infer<typeof displaySchema>, Logged<'output', typeof outputFields>> = {
  type: 'display',
  schema: displaySchema,
  kind: () => 'display',
  assemble: (event, outputs) => outputs.append(event.index, outputOf(event), event.displayId),
  logged: (event, cell) => ({
    type: 'output',
    cell,
    output: outputOf(event),
    ...(event.displayId === null ? {} : { displayId: event.displayId }),
  }),
}

function outputOf({ outputType, executionCount, data, metadata }: z.infer<typeof displaySchema>): Output {
  return outputType === 'execute_result'
    ? { output_type: 'execute_result', execution_count: executionCount, data, metadata }
    : { output_type: 'display_data', data, metadata }
}

const updateSchema = z
  .object({
    ...ofCell,
    type: z.literal('update_display'),
    display_id: displayIdSchema,
    data: bundleSchema,
    metadata: metadataSchema,
  })
  .transform(({ display_id: displayId, ...event }) => ({ ...event, displayId }))

/** Replaces every output of one display id. */
export const updateDisplay: SandboxEventType<z.infer<typeof updateSchema>, Logged<'output', typeof outputFields>> = {
  type: 'update_display',
  schema: updateSchema,
  kind: () => 'display',
  assemble: ({ displayId, data, metadata }, outputs) => outputs.update(displayId, data, metadata),
  logged: ({ displayId, data, metadata }, cell) => ({
    type: 'output',
    cell,
    displayId,
    replaces: true,
    output: { output_type: 'display_data', data, metadata },
  }),
}
