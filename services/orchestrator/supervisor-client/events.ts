import { z } from 'zod'
import {
  boundedText,
  bundleSchema,
  countSchema as count,
  errorFields,
  EVENT_BOUNDS,
  executionCountSchema as executionCount,
  metadataSchema,
  textSchema as text,
} from '../../core/executions/event-schema.ts'
import { SupervisorError, type SandboxFile, type SupervisorEvent } from '../../core/ports/supervisor.ts'
import { isSandboxPath } from './file-target.ts'

const MAX_LIST_ENTRIES = 20_000
const MAX_REASON_CHARACTERS = 2_000

const numbered = { seq: count, t: z.number().nonnegative() }
const ofCell = { ...numbered, index: count }
const reason = boundedText(MAX_REASON_CHARACTERS)

export const fileSchema = z.object({ path: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })

const doneSchema = z.object({
  ...numbered,
  type: z.literal('done'),
  outcome: z.enum(['ok', 'error', 'timed_out', 'cancelled', 'oom', 'kernel_died', 'output_limit', 'disk_full', 'cpu_limit']),
  run_ms: z.number().nonnegative(),
  cpu_ms: z.number().nonnegative(),
  peak_memory_bytes: z.number().nonnegative(),
  output_bytes: z.number().nonnegative(),
  truncated: z
    .array(z.object({ what: reason, total_bytes: z.number().nonnegative(), kept_bytes: z.number().nonnegative(), reason }))
    .max(MAX_LIST_ENTRIES),
  files: z.array(fileSchema.extend({ change: z.enum(['created', 'modified']) })).max(MAX_LIST_ENTRIES),
  deleted: z.array(z.string()),
  skipped: z.array(z.object({ path: text, reason })).max(MAX_LIST_ENTRIES),
  ended_processes: count.default(0),
  state_lost: z.object({ reason }).nullish(),
  exit: z.object({ code: z.number().int().nullable(), signal: z.number().int().nullable() }).nullish(),
  // Absent in events of an older image.
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullish(),
})

/** Field by field what PROTOCOL.md says; what it does not name is dropped. */
const eventSchema = z.discriminatedUnion('type', [
  z.object({ ...ofCell, type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text }),
  z.object({ ...numbered, type: z.literal('started') }),
  z.object({ ...ofCell, type: z.literal('cell_started'), execution_count: executionCount }),
  z.object({ ...ofCell, type: z.literal('cell_done'), status: z.enum(['ok', 'error', 'aborted']), execution_count: executionCount }),
  doneSchema,
  z.object({
    ...ofCell,
    type: z.literal('display'),
    output_type: z.enum(['display_data', 'execute_result']),
    data: bundleSchema,
    metadata: metadataSchema,
    execution_count: executionCount,
    transient: z.object({ display_id: z.string().max(EVENT_BOUNDS.idCharacters).nullish() }).nullish(),
  }),
  z.object({
    ...ofCell,
    type: z.literal('update_display'),
    display_id: z.string().max(EVENT_BOUNDS.idCharacters),
    data: bundleSchema,
    metadata: metadataSchema,
  }),
  z.object({ ...ofCell, type: z.literal('clear_output'), wait: z.boolean() }),
  z.object({ ...ofCell, type: z.literal('error'), ...errorFields }),
])
type WireEvent = z.infer<typeof eventSchema>
type WireDone = z.infer<typeof doneSchema>

/** Checks one event of the stream and gives it the names of the port. Throws SupervisorError `protocol`. */
export function toEvent(json: unknown): SupervisorEvent {
  const parsed = eventSchema.safeParse(json)
  if (!parsed.success)
    throw new SupervisorError(
      'protocol',
      `The sandbox sent an event that does not follow the protocol: ${z.prettifyError(parsed.error).slice(0, 300)}`,
    )
  return named(parsed.data)
}

function named(event: WireEvent): SupervisorEvent {
  const { seq, t } = event
  switch (event.type) {
    case 'started':
    case 'stream':
    case 'clear_output':
    case 'error':
      return event
    case 'cell_started':
      return { seq, t, type: event.type, index: event.index, executionCount: event.execution_count }
    case 'cell_done':
      return { seq, t, type: event.type, index: event.index, status: event.status, executionCount: event.execution_count }
    case 'display':
      return {
        seq,
        t,
        type: event.type,
        index: event.index,
        outputType: event.output_type,
        data: event.data,
        metadata: event.metadata,
        executionCount: event.execution_count,
        displayId: event.transient?.display_id ?? null,
      }
    case 'update_display':
      return { seq, t, type: event.type, index: event.index, displayId: event.display_id, data: event.data, metadata: event.metadata }
    case 'done':
      return toDone(event)
  }
}

/** A file whose name is no path is listed among the skipped ones and never requested. */
function toDone(event: WireDone): SupervisorEvent {
  return {
    seq: event.seq,
    t: event.t,
    type: 'done',
    outcome: event.outcome,
    runMs: event.run_ms,
    cpuMs: event.cpu_ms,
    peakMemoryBytes: event.peak_memory_bytes,
    outputBytes: event.output_bytes,
    truncated: event.truncated.map((part) => ({
      what: part.what,
      totalBytes: part.total_bytes,
      keptBytes: part.kept_bytes,
      reason: part.reason,
    })),
    files: event.files.filter((file) => isSandboxPath(file.path)),
    deleted: event.deleted.filter(isSandboxPath),
    skipped: [
      ...event.skipped,
      ...event.files.filter((file) => !isSandboxPath(file.path)).map((file) => ({ path: file.path.toWellFormed(), reason: 'name' })),
    ],
    endedProcesses: event.ended_processes,
    stateLost: event.state_lost?.reason ?? null,
    exit: event.exit ?? null,
    traceId: event.trace_id ?? null,
  }
}

const listSchema = z.object({ files: z.array(fileSchema) })

/** The answer of `GET /files`, without names that are no paths. Throws SupervisorError `protocol`. */
export function toFiles(json: unknown): { readonly files: readonly SandboxFile[] } {
  const parsed = listSchema.safeParse(json)
  if (!parsed.success) throw new SupervisorError('protocol', 'The sandbox sent a list of files that does not follow the protocol.')
  return { files: parsed.data.files.filter((file) => isSandboxPath(file.path)) }
}
