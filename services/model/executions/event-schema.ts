import * as z from 'zod'
import type { MimeBundle, Output } from './outputs.ts'

/** Maximum sizes of the parts of one event. The supervisor enforces the same or lower ones. */
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
/** Without NUL, which many databases of clients refuse. */
export const withoutNull = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)
/** Without lone surrogates, which no UTF-8 store accepts, and without NUL. */
const storable = (text: string): string => withoutNull(text).toWellFormed()
/** What a program prints. The log has its NUL, because programs separate names by it; results do not have it. */
export const printedSchema = z.string().transform((text) => text.toWellFormed())
export const textSchema = z.string().transform(storable)
/** Text that is cut at this many characters. */
export const boundedText = (max: number) => z.string().transform((value) => storable(value.slice(0, max)))
/** A wrong type counts as absent, because no decision depends on the number of a cell. */
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
    bundle[mime.toWellFormed()] = isJsonType(mime) ? value : storable(asText(value))
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
    const text = storable(line.slice(0, left))
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

/** The cell of an event in an execution's log. */
export const cellSchema = countSchema.describe('Position of the cell in the notebook; 0 for plain code.')

/** Fields of `output` in an execution's log. */
export const outputFields = {
  cell: cellSchema,
  output: outputSchema,
  displayId: z.string().exactOptional(),
  replaces: z.boolean().exactOptional(),
}
