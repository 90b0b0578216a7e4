import { z } from 'zod'
import { SupervisorError, type SandboxFile, type SupervisorEvent } from '../../core/ports/supervisor.ts'
import { isSandboxPath } from './file-target.ts'

const count = z.number().int().nonnegative()
const text = z.string().transform((value) => value.toWellFormed())
const numbered = { seq: count, t: z.number().nonnegative() }
const ofCell = { ...numbered, index: count }
const bundle = z.record(z.string(), z.unknown())
const executionCount = count.nullish().transform((value) => value ?? null)

export const fileSchema = z.object({ path: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })
const skippedSchema = z.object({ path: text, reason: text })

const doneSchema = z.object({
  ...numbered,
  type: z.literal('done'),
  outcome: z.enum(['ok', 'error', 'timed_out', 'cancelled', 'oom', 'kernel_died', 'output_limit', 'disk_full', 'cpu_limit']),
  run_ms: z.number().nonnegative(),
  cpu_ms: z.number().nonnegative(),
  peak_memory_bytes: z.number().nonnegative(),
  output_bytes: z.number().nonnegative(),
  truncated: z.array(z.object({ what: text, total_bytes: z.number().nonnegative(), kept_bytes: z.number().nonnegative(), reason: text })),
  files: z.array(fileSchema.extend({ change: z.enum(['created', 'modified']) })),
  deleted: z.array(z.string()),
  skipped: z.array(skippedSchema),
  ended_processes: count.default(0),
  state_lost: z.object({ reason: text }).nullish(),
  // Of an older image: absent.
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
    data: bundle,
    metadata: bundle,
    execution_count: executionCount,
    transient: z.object({ display_id: z.string().nullish() }).nullish(),
  }),
  z.object({ ...ofCell, type: z.literal('update_display'), display_id: z.string(), data: bundle, metadata: bundle }),
  z.object({ ...ofCell, type: z.literal('clear_output'), wait: z.boolean() }),
  z.object({ ...ofCell, type: z.literal('error'), name: text, value: text, traceback: z.array(text) }),
])
type WireEvent = z.infer<typeof eventSchema>
type WireDone = z.infer<typeof doneSchema>

/** Checks one event of the stream and gives it the names of the port. Throws SupervisorError `protocol`. */
export function toEvent(json: unknown): SupervisorEvent {
  const parsed = eventSchema.safeParse(json)
  if (!parsed.success)
    throw new SupervisorError(
      'protocol',
      `The sandbox sent an event that the protocol does not know: ${z.prettifyError(parsed.error).slice(0, 300)}`,
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

/** A file under a name that is no path is named among the skipped ones and never asked for. */
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
    traceId: event.trace_id ?? null,
  }
}

const listSchema = z.object({ files: z.array(fileSchema) })

/** The answer of `GET /files`, without names that are no paths. Throws SupervisorError `protocol`. */
export function toFiles(json: unknown): { readonly files: readonly SandboxFile[] } {
  const parsed = listSchema.safeParse(json)
  if (!parsed.success) throw new SupervisorError('protocol', 'The sandbox sent a list of files that the protocol does not know.')
  return { files: parsed.data.files.filter((file) => isSandboxPath(file.path)) }
}
