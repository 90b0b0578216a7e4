import { z } from 'zod'
import type { ExecutionEventPayload } from '../events.ts'
import type { MimeBundle, Output } from './outputs.ts'

/** Bounds of what a kernel may put into one event. The supervisor has the same or smaller ones. */
export const EVENT_BOUNDS = {
  mimeTypes: 64,
  mimeCharacters: 255,
  idCharacters: 1_024,
  nameCharacters: 1_024,
  valueCharacters: 128 * 1_024,
  tracebackLines: 2_000,
  tracebackCharacters: 512 * 1_024,
} as const

/** A count or a position: a non-negative integer. */
export const countSchema = z.number().int().nonnegative()
/** Text without lone surrogates, which no UTF-8 store accepts. */
export const textSchema = z.string().transform((value) => value.toWellFormed())
/** Text that is cut at this many characters. */
export const boundedText = (max: number) => z.string().transform((value) => value.slice(0, max).toWellFormed())
/** A wrong type counts as absent: the number of a cell decides nothing. */
export const executionCountSchema = countSchema.nullish().transform((value) => value ?? null)

/**
 * A MIME bundle as every consumer may use it: text for each type, any JSON for a JSON type. A list of strings is joined and any other value
 * becomes its JSON text. Empty values, and types beyond the bounds, are left out. `runtime-image/vectors/bundles.json` has the examples that
 * the supervisor passes too.
 */
export function normalizeBundle(data: Readonly<Record<string, unknown>>): MimeBundle {
  const bundle: Record<string, unknown> = {}
  let types = 0
  for (const [mime, value] of Object.entries(data)) {
    if (value === null || value === undefined || mime.length > EVENT_BOUNDS.mimeCharacters || types >= EVENT_BOUNDS.mimeTypes) continue
    types += 1
    bundle[mime.toWellFormed()] = isJsonType(mime) ? value : asText(value).toWellFormed()
  }
  return bundle
}

/** `application/json` and `application/*+json`, whatever parameters follow. */
const isJsonType = (mime: string): boolean => /^application\/(?:.*\+)?json$/.test((mime.split(';')[0] ?? '').trim().toLowerCase())

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((line) => typeof line === 'string')) return value.join('')
  return JSON.stringify(value)
}

export const bundleSchema = z.record(z.string(), z.unknown()).transform(normalizeBundle)
/** Anything but an object counts as no metadata. */
export const metadataSchema = z.record(z.string(), z.unknown()).catch({})

/** An error as a kernel reports it. */
export const errorFields = {
  name: boundedText(EVENT_BOUNDS.nameCharacters),
  value: boundedText(EVENT_BOUNDS.valueCharacters),
  traceback: z.array(z.string()).transform(boundTraceback),
}

function boundTraceback(lines: readonly string[]): string[] {
  let left: number = EVENT_BOUNDS.tracebackCharacters
  const kept: string[] = []
  for (const line of lines.slice(0, EVENT_BOUNDS.tracebackLines)) {
    if (left <= 0) break
    const text = line.slice(0, left).toWellFormed()
    left -= text.length + 1
    kept.push(text)
  }
  return kept
}

/** An output of nbformat 4.5. */
export const outputSchema: z.ZodType<Output> = z.discriminatedUnion('output_type', [
  z.object({ output_type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({
    output_type: z.literal('display_data'),
    data: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
  }),
  z.object({
    output_type: z.literal('execute_result'),
    execution_count: countSchema.nullable(),
    data: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
  }),
  z.object({ output_type: z.literal('error'), ename: z.string(), evalue: z.string(), traceback: z.array(z.string()) }),
])

const fileSchema = z.object({
  id: z.string(),
  path: z.string(),
  bytes: countSchema,
  sha256: z.string(),
  mime: z.string(),
  isNew: z.boolean(),
  modifiedFrom: z.string().nullable(),
})

const cell = countSchema.describe('Position of the cell in the notebook; 0 for plain code.')

/** What each event of an execution says, as the log has it. */
export const executionEventSchema: z.ZodType<ExecutionEventPayload> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('status'), status: z.string() }),
  z.object({ type: z.enum(['stdout', 'stderr']), cell, text: z.string() }),
  z.object({
    type: z.literal('output'),
    cell,
    output: outputSchema,
    displayId: z.string().exactOptional(),
    replaces: z.boolean().exactOptional(),
  }),
  z.object({ type: z.literal('clear'), cell, wait: z.boolean() }),
  z.object({ type: z.literal('file'), file: fileSchema }),
  z.object({ type: z.literal('lost'), what: z.string(), reason: z.string() }),
  z.object({ type: z.literal('done'), status: z.string(), reason: z.string().nullable() }),
])

/**
 * The `data` of each server-sent event of an execution, by event name: the events of the log with their number, an ISO 8601 time and the
 * names of the wire. `file` is the API's form of a file, with its link.
 */
export function executionFrameSchemas<F extends z.ZodType>(file: F) {
  const numbered = { seq: countSchema, at: z.iso.datetime() }
  const text = z.object({ ...numbered, cell, text: z.string() })
  return {
    status: z.object({ ...numbered, status: z.string() }),
    stdout: text,
    stderr: text,
    output: z.object({
      ...numbered,
      cell,
      output: outputSchema,
      display_id: z.string().exactOptional(),
      replaces: z.boolean().exactOptional().describe('The output replaces every output of this `display_id`.'),
    }),
    clear: z.object({ ...numbered, cell, wait: z.boolean() }),
    file: z.object({ ...numbered, file }),
    lost: z.object({ ...numbered, what: z.string(), reason: z.string() }),
    done: z.object({ ...numbered, status: z.string(), reason: z.string().nullable() }),
  } as const
}
