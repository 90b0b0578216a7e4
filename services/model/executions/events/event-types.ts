import * as z from 'zod'
import { cellSchema, countSchema, outputFields, outputSchema } from '../event-schema.ts'
import type { CellOutputs } from './cell-outputs.ts'
import { cellDone, cellStarted, started } from './cell.ts'
import { clearFields, clearOutput } from './clear-output.ts'
import { display, updateDisplay } from './display.ts'
import { error } from './error.ts'
import type { Logged, OutputKind, SandboxEventType } from './sandbox-event-type.ts'
import { stream, textFields } from './stream.ts'

/** Every type of event that a sandbox sends before `done`. A new type is one file in this folder and one entry here. */
const SANDBOX_EVENTS = [
  started,
  stream,
  cellStarted,
  cellDone,
  display,
  updateDisplay,
  clearOutput,
  error,
] as const satisfies readonly Pick<SandboxEventType<never, ExecutionProgressPayload>, 'logged'>[]

/** An event of a sandbox; `type` says which one. */
export type SandboxEvent = z.infer<(typeof SANDBOX_EVENTS)[number]['schema']>

const fileSchema = z.object({
  id: z.string(),
  path: z.string(),
  bytes: countSchema,
  sha256: z.string(),
  mime: z.string(),
  isNew: z.boolean(),
  modifiedFrom: z.string().nullable(),
})

/** The fields of each type of event in an execution's log. Schema, type, server-sent event and OpenAPI document follow from this table. */
const LOG_EVENTS = {
  status: { status: z.string() },
  stdout: textFields,
  stderr: textFields,
  output: outputFields,
  clear: clearFields,
  file: { file: fileSchema },
  lost: { what: z.string(), reason: z.string() },
  network: { requests: countSchema, refused: countSchema, bytes: countSchema },
  done: { status: z.string(), reason: z.string().nullable() },
} as const

type LogEvents = typeof LOG_EVENTS
export type LogEventType = keyof LogEvents
type Payloads = { [T in LogEventType]: Logged<T, LogEvents[T]> }
/** What an event of an execution says, as the log has it. */
export type ExecutionEventPayload = Payloads[LogEventType]
/** What any event but the last one says. A log takes no other: `done` is written with the row's end, so no reader has it before. */
export type ExecutionProgressPayload = Payloads[Exclude<LogEventType, 'done'>]

const entries = Object.entries(LOG_EVENTS) as [LogEventType, z.ZodRawShape][]

const logSchemas = entries.map(([type, fields]) => z.object({ seq: countSchema, at: z.number(), type: z.literal(type), ...fields }))
const anyLogSchema = z.discriminatedUnion('type', logSchemas as [(typeof logSchemas)[number], ...typeof logSchemas])

/** An event of an execution's log with its number and time (epoch ms). The store checks what it reads with it. */
export const executionEventSchema = anyLogSchema as unknown as z.ZodType<
  { readonly seq: number; readonly at: number } & ExecutionEventPayload
>

/**
 * The `data` of each server-sent event of an execution, by event name: the events of the log with their number, an ISO 8601 time and the
 * names of the wire. `file` is the API's form of a file, with its link.
 */
export function executionFrameSchemas(file: z.ZodType): Readonly<Record<LogEventType, z.ZodObject>> {
  const output = {
    cell: cellSchema,
    output: outputSchema,
    display_id: z.string().exactOptional(),
    replaces: z.boolean().exactOptional().describe('The output replaces every output of this `display_id`.'),
  }
  const shapes = { ...(LOG_EVENTS as Readonly<Record<LogEventType, z.ZodRawShape>>), output, file: { file } }
  const frames = Object.entries(shapes).map(([type, fields]) => [type, z.object({ seq: countSchema, at: z.iso.datetime(), ...fields })])
  return Object.fromEntries(frames) as Record<LogEventType, z.ZodObject>
}

/** The fields of an event that have the same form in the log and on the wire. */
export function plainFields(event: ExecutionEventPayload): Readonly<Record<string, unknown>> {
  const values = event as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.keys(LOG_EVENTS[event.type]).map((name) => [name, values[name]]))
}

const TYPES: ReadonlyMap<unknown, SandboxEventType<SandboxEvent, ExecutionProgressPayload>> = new Map(
  SANDBOX_EVENTS.map((type) => [type.type, type as SandboxEventType<SandboxEvent, ExecutionProgressPayload>]),
)

/** The schema of an event that a sandbox sends; undefined for an unknown type. */
export const sandboxEventSchema = (type: unknown): z.ZodType<SandboxEvent> | undefined => TYPES.get(type)?.schema
/** What the event counts as; null when it has no output. */
export const outputKind = (event: SandboxEvent): OutputKind | null => TYPES.get(event.type)?.kind?.(event) ?? null
export const assembleEvent = (event: SandboxEvent, outputs: CellOutputs): void => TYPES.get(event.type)?.assemble?.(event, outputs)
/** The event as the log has it; null when the log does not. `cellOf`: the notebook position of a cell that was sent. */
export const loggedEvent = (event: SandboxEvent, cellOf: (index: number) => number): ExecutionProgressPayload | null =>
  TYPES.get(event.type)?.logged?.(event, 'index' in event ? cellOf(event.index) : 0) ?? null
