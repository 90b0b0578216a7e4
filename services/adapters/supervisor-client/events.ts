import * as z from 'zod'
import { boundedText, countSchema as count, textSchema as text } from '../../model/executions/event-schema.ts'
import { sandboxEventSchema } from '../../model/executions/events/event-types.ts'
import { numbered } from '../../model/executions/events/sandbox-event-type.ts'
import { SupervisorError, type Supervisor, type SupervisorEnvelope, type SupervisorEvent } from '../../ports/supervisor.ts'
import { isSandboxPath } from './file-target.ts'
import { safeParse } from '../../model/safe-parse.ts'

const MAX_LIST_ENTRIES = 20_000
const MAX_REASON_CHARACTERS = 2_000

const reason = boundedText(MAX_REASON_CHARACTERS)

export const fileSchema = z.object({ path: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })

const skippedSchema = z.object({ path: text, reason })

const doneSchema = z.object({
  ...numbered,
  type: z.literal('done'),
  outcome: z.enum(['ok', 'error', 'timed_out', 'cancelled', 'oom', 'kernel_died', 'output_limit', 'disk_full', 'cpu_limit']),
  run_ms: z.number().nonnegative(),
  cpu_ms: z.number().nonnegative(),
  sandbox_cpu_ms: z.number().nonnegative().optional(),
  peak_memory_bytes: z.number().nonnegative(),
  output_bytes: z.number().nonnegative(),
  truncated: z
    .array(z.object({ what: reason, total_bytes: z.number().nonnegative(), kept_bytes: z.number().nonnegative(), reason }))
    .max(MAX_LIST_ENTRIES),
  files: z.array(fileSchema.extend({ change: z.enum(['created', 'modified']) })).max(MAX_LIST_ENTRIES),
  deleted: z.array(z.string()),
  skipped: z.array(skippedSchema).max(MAX_LIST_ENTRIES),
  ended_processes: count.default(0),
  state_lost: z.object({ reason }).nullish(),
  exit: z.object({ code: z.number().int().nullable(), signal: z.number().int().nullable() }).nullish(),
  // Absent in events of an older image.
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullish(),
})

type WireDone = z.infer<typeof doneSchema>

/** Checks one event of the stream and gives it the names of the port. Throws SupervisorError `protocol`. */
export function toEvent(json: unknown): SupervisorEvent {
  const type = typeof json === 'object' && json !== null && 'type' in json ? json.type : null
  if (type === 'done') return toDone(parsed(doneSchema, json))
  const schema = sandboxEventSchema(type)
  if (schema === undefined) throw new SupervisorError('protocol', 'The sandbox sent an event of an unknown type.')
  return parsed(schema, json)
}

function parsed<T>(schema: z.ZodType<T>, json: unknown): T {
  const result = safeParse(schema, json)
  if (result.success) return result.data
  throw new SupervisorError(
    'protocol',
    `The sandbox sent an event that does not follow the protocol: ${z.prettifyError(result.error).slice(0, 300)}`,
  )
}

/** A file whose name is not a valid path is listed as skipped and never requested. */
function toDone(event: WireDone): SupervisorEvent {
  return {
    seq: event.seq,
    t: event.t,
    type: 'done',
    outcome: event.outcome,
    runMs: event.run_ms,
    cpuMs: event.cpu_ms,
    sandboxCpuMs: event.sandbox_cpu_ms,
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
    skipped: [...event.skipped, ...invalidNames(event.files)],
    endedProcesses: event.ended_processes,
    stateLost: event.state_lost?.reason ?? null,
    exit: event.exit ?? null,
    traceId: event.trace_id ?? null,
  }
}

const listSchema = z.object({ files: z.array(fileSchema), skipped: z.array(skippedSchema).max(MAX_LIST_ENTRIES).default([]) })

/** The answer of `GET /files`; names that are not valid paths are among the skipped ones. Throws SupervisorError `protocol`. */
export function toFiles(json: unknown): Awaited<ReturnType<Supervisor['listFiles']>> {
  const parsed = safeParse(listSchema, json)
  if (!parsed.success) throw new SupervisorError('protocol', 'The sandbox sent a list of files that does not follow the protocol.')
  const { files, skipped } = parsed.data
  return { files: files.filter((file) => isSandboxPath(file.path)), skipped: [...skipped, ...invalidNames(files)] }
}

const invalidNames = (files: readonly { readonly path: string }[]): SupervisorEnvelope['skipped'] =>
  files.filter((file) => !isSandboxPath(file.path)).map((file) => ({ path: file.path.toWellFormed(), reason: 'name' }))
