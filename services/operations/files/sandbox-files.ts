import * as z from 'zod'
import { parseHostileJson } from '../../model/scan-json.ts'
import { boundedList, boundedRecord } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { ServiceError, type ErrorCode } from '../../model/errors.ts'
import { FILE_PROGRAM } from '../../model/executions/command-arguments.ts'
import { hasEnded, type Lost } from '../../model/executions/execution.ts'
import { loadResult } from '../executions/load-result.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCommand } from '../commands/run-command.ts'
import { cancelExecution } from '../executions/cancel-execution.ts'
import type { RunContext } from '../executions/run-code.ts'
import { RUN_ANSWER_BYTES } from '../executions/result-budget.ts'
import { storedBytes } from '../executions/stored-bytes.ts'
import { safeParse } from '../../model/safe-parse.ts'

const TIMEOUT_SECONDS = 60
/** Entries of one list. */
export const MAX_ENTRIES = 5_000
const path = lazySchema(() => z.string().max(4 * LIMITS.maxPathBytes))

const TYPES = ['file', 'folder', 'link', 'other'] as const
/** Extended attributes of one file: their number, and the bytes of names and values together. */
const MAX_ATTRIBUTES = 200
export const MAX_ATTRIBUTE_BYTES = 4 * 1024

/** What is at a path of the sandbox. Sandboxes are hostile: every field is checked. */
export const SandboxEntry = lazySchema(() =>
  z.object({
    /** Absolute. */
    path: path(),
    name: z.string().max(LIMITS.maxPathBytes),
    type: z.enum(TYPES),
    bytes: z.int().min(0),
    /** Epoch ms. */
    modified_at: z.int(),
    /** Permission bits. */
    mode: z.int().min(0),
    /** Where a link leads, as it was written. */
    target: path().optional(),
    /** What a link leads to, by its absolute path; absent for a link that leads nowhere. */
    resolved: z.object({ path: path(), type: z.enum(TYPES), mode: z.int().min(0) }).optional(),
    /** Extended attributes that the request asked for, by name without the prefix. */
    attributes: boundedRecord(z.string().max(MAX_ATTRIBUTE_BYTES), z.string().max(MAX_ATTRIBUTE_BYTES), MAX_ATTRIBUTES).optional(),
  }),
)
export type SandboxEntry = Described<typeof SandboxEntry>

/** `attributes` is the prefix of the extended attributes that an entry should have. */
interface Attributed {
  readonly attributes?: string
}

const Folder = lazySchema(() => z.object({ entries: boundedList(SandboxEntry(), { max: MAX_ENTRIES }), is_truncated: z.boolean() }))
const OneEntry = lazySchema(() => z.object({ entry: SandboxEntry() }))
const MadeFolder = lazySchema(() => z.object({ entry: SandboxEntry(), is_new: z.boolean() }))
const Annotated = lazySchema(() => z.object({ annotated: z.int().min(0) }))
const Removed = lazySchema(() => z.object({ removed: z.int().min(0) }))
const Range = lazySchema(() => z.object({ data: z.base64(), bytes: z.int().min(0) }))
const cell = lazySchema(() => z.string().max(1_000).nullable())
const Preview = lazySchema(() =>
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('table'),
      columns: boundedList(cell(), { max: 100 }),
      rows: boundedList(boundedList(cell(), { max: 100 }), { max: 100 }),
      is_truncated: z.boolean(),
      sheets: boundedList(z.string().max(1_000), { max: 100 }).optional(),
    }),
    z.object({
      kind: z.literal('image'),
      format: z.string().max(40).nullable(),
      width: z.int(),
      height: z.int(),
      /** A PNG, base64; null when it is too large. */
      thumbnail: z.base64().nullable(),
    }),
    z.object({
      kind: z.literal('text'),
      lines: boundedList(z.string().max(1_000), { max: 100 }),
      is_truncated: z.boolean(),
      problem: z.string().max(400).optional(),
    }),
    z.object({ kind: z.literal('binary'), hex: z.string().max(200), problem: z.string().max(400).optional() }),
  ]),
)
const Previewed = lazySchema(() => z.object({ entry: SandboxEntry(), preview: Preview() }))
const Unpacked = lazySchema(() => z.object({ files: z.int().min(0), paths: boundedList(path(), { max: 1_000 }) }))
const Refused = lazySchema(() => z.object({ error: z.object({ code: z.string().max(40), message: z.string().max(2_000) }) }))

const CODES: Readonly<Record<string, ErrorCode>> = {
  not_found: 'file_not_found',
  invalid: 'invalid_file_name',
  disk_full: 'storage_full',
}

/**
 * File operations below run as commands in the container's sandbox: they see files outside `/mnt/data` and those of running code, and hostile files
 * are parsed only there. Paths are absolute or relative to `/mnt/data`. They throw ServiceError `file_not_found`, `invalid_file_name`, `conflict`
 * (a folder in the place of a file, a full folder, a path that is taken, closed permissions), `storage_full` or `sandbox_unavailable`.
 */
export const listFolder = (
  context: RunContext,
  containerId: string,
  request: Attributed & { path: string; depth?: number; limit?: number },
) => operate(context, containerId, { request: { op: 'list', ...request }, schema: Folder() })

export const statPath = async (context: RunContext, containerId: string, request: Attributed & { path: string }): Promise<SandboxEntry> =>
  (await operate(context, containerId, { request: { op: 'stat', ...request }, schema: OneEntry() })).entry

/** Gives files the extended attributes `values` under the prefix `attributes`, and takes their others of this prefix away. */
export const annotatePaths = (
  context: RunContext,
  containerId: string,
  request: Required<Attributed> & { paths: readonly string[]; values: Readonly<Record<string, string>> },
) => operate(context, containerId, { request: { op: 'annotate', ...request }, schema: Annotated() })

/** Creates a folder with its parents. An existing folder is not an error. */
export const makeFolder = (context: RunContext, containerId: string, at: string) =>
  operate(context, containerId, { request: { op: 'mkdir', path: at }, schema: MadeFolder() })

export const movePath = async (
  context: RunContext,
  containerId: string,
  request: Attributed & { from: string; to: string; overwrite?: boolean },
): Promise<SandboxEntry> => (await operate(context, containerId, { request: { op: 'move', ...request }, schema: OneEntry() })).entry

/** Without `recursive` a folder has to be empty. */
export const removePath = (context: RunContext, containerId: string, request: { path: string; recursive?: boolean }) =>
  operate(context, containerId, { request: { op: 'remove', ...request }, schema: Removed() })

/** At most 512 KiB at a time, as base64, with the size of the whole file. */
export const readRange = (context: RunContext, containerId: string, request: { path: string; offset?: number; length?: number }) =>
  operate(context, containerId, { request: { op: 'read', ...request }, schema: Range() })

export const previewFile = (context: RunContext, containerId: string, request: { path: string; rows?: number; pixels?: number }) =>
  operate(context, containerId, { request: { op: 'preview', ...request }, schema: Previewed() })

/** Unpacks a zip or tar archive in the container. `lost` names the files that are there and cannot be kept. */
export async function unpackArchive(
  context: RunContext,
  containerId: string,
  request: { path: string; into?: string; remove_archive?: boolean },
): Promise<Described<typeof Unpacked> & { readonly lost: readonly Lost[] }> {
  const { answer, lost } = await perform(context, containerId, { request: { op: 'unpack', ...request }, schema: Unpacked() })
  return { ...answer, lost }
}

interface WatchRequest extends Attributed {
  readonly path: string
  readonly recursive: boolean
  /** Changes bring the entry of what exists after them. */
  readonly with_entry?: boolean
}

/**
 * Arguments of a background command that prints one JSON object per line for each change below a folder, after a first line
 * `{"op":"watching"}`: `{"op": "create" | "write" | "chmod" | "remove" | "rename" | "moved_away", "path", "from"?, "entry"?}`. It answers each line of
 * its input with `{"op":"synced","id"}` after the changes before. Cancel the command to end it.
 */
export const watchArguments = (request: WatchRequest): readonly string[] => [...FILE_PROGRAM, JSON.stringify({ op: 'watch', ...request })]

interface Operation<Schema extends z.ZodType> {
  /** A program that takes its request and answers as that of the image does. */
  readonly program?: readonly string[]
  readonly request: Readonly<Record<string, unknown>>
  readonly schema: Schema
}

const operate = async <Schema extends z.ZodType>(
  context: RunContext,
  containerId: string,
  operation: Operation<Schema>,
): Promise<z.infer<Schema>> => (await perform(context, containerId, operation)).answer

/** The same by a program of a wire. */
export const operateBy: <Schema extends z.ZodType>(
  context: RunContext,
  containerId: string,
  operation: Operation<Schema> & { readonly program: readonly string[] },
) => Promise<z.infer<Schema>> = operate

async function perform<Schema extends z.ZodType>(
  context: RunContext,
  containerId: string,
  { program = FILE_PROGRAM, request, schema }: Operation<Schema>,
): Promise<{ readonly answer: z.infer<Schema>; readonly lost: readonly Lost[] }> {
  const { deps } = context
  const argv = [...program, JSON.stringify(request)]
  const waitMs = Math.min(TIMEOUT_SECONDS, deps.config.maxHoldSeconds) * 1000
  // A refusal after the operation would make a client repeat it.
  deps.results.reserve(RUN_ANSWER_BYTES)
  const { execution } = await runCommand(context, { containerId, argv, timeoutSeconds: TIMEOUT_SECONDS, waitMs })
  if (!hasEnded(execution.status)) {
    await cancelExecution(deps, execution)
    throw new ServiceError('sandbox_unavailable', 'The sandbox did not complete the file operation in time. Call again.')
  }
  const { answer, lost } = await deps.results.use(storedBytes(execution), async () => {
    const result = await loadResult(deps.objects, execution)
    return { answer: execution.status === 'succeeded' ? parseHostileJson(result?.stdout ?? '') : undefined, lost: result?.lost ?? [] }
  })
  const refused = safeParse(Refused(), answer)
  if (refused.success) throw refusalOf(refused.data.error)
  const checked = safeParse(schema, answer)
  if (checked.success) return { answer: checked.data, lost }
  throw new ServiceError(
    'sandbox_unavailable',
    `The sandbox did not complete the file operation (${execution.status}${execution.reason === null ? '' : `, ${execution.reason}`}). Call again.`,
  )
}

const refusalOf = ({ code, message }: { readonly code: string; readonly message: string }): ServiceError =>
  new ServiceError(CODES[code] ?? 'conflict', message, { param: 'path' })
