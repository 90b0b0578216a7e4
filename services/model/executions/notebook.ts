import { REF_MIME, type CellResult, type MimeBundle, type Output } from './outputs.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** One execution as part of a notebook: its cells, their results, and the notebook document if the client sent one. */
export interface NotebookPart {
  readonly executionId: string
  /** The cells that ran; for plain code one, with index 0. */
  readonly cells: readonly { readonly index: number; readonly code: string }[]
  readonly results: readonly CellResult[]
  /** The notebook that was sent: its markdown and raw cells are kept. Null for plain code. */
  readonly document: JsonObject | null
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isLines = (value: unknown): boolean => isString(value) || (Array.isArray(value) && value.every(isString))

/** Rules of the nbformat 4.5 schema for known metadata entries of notebooks and cells. */
const KNOWN: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isString,
  authors: Array.isArray,
  orig_nbformat: (value) => Number.isInteger(value) && Number(value) >= 1,
  name: (value) => isString(value) && /./.test(value),
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => isString(tag) && /^[^,]+$/.test(tag)) && new Set(value).size === value.length,
  format: isString,
  jupyter: isObject,
  execution: (value) => isObject(value) && Object.values(value).every(isString),
  collapsed: isBoolean,
  scrolled: (value) => value === 'auto' || isBoolean(value),
}

const isValid = ([name, value]: readonly [string, unknown]): boolean => !Object.hasOwn(KNOWN, name) || KNOWN[name]?.(value) === true

/** The metadata of a notebook or cell without invalid entries; entries that nbformat does not define are kept. */
const validMetadata = (metadata: unknown): JsonObject =>
  isObject(metadata) ? Object.fromEntries(Object.entries(metadata).filter(isValid)) : {}

/** Whether a MIME type contains JSON; every other type contains text. */
const isJsonMime = (mime: string): boolean => /^application\/(.*\+)?json$/.test(mime)

/** The attachments of a text cell that nbformat permits. */
const validAttachments = (attachments: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attachments).filter(
      ([, bundle]) => isObject(bundle) && Object.entries(bundle).every(([mime, data]) => isJsonMime(mime) || isLines(data)),
    ),
  )

const sourceOf = (value: unknown): string =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : typeof value === 'string' ? value : ''

/** Builds an executed notebook that is valid nbformat 4.5: every cell has a unique id. */
export function buildNotebook(parts: readonly NotebookPart[]): JsonObject {
  const ids = new Set<string>()
  const cells = parts.flatMap((part) => cellsOf(part, ids))
  const metadata = parts.length === 1 ? validMetadata(parts[0]?.document?.['metadata']) : {}
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      ...metadata,
      kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' },
      language_info: { name: 'python' },
    },
    cells,
  }
}

function cellsOf(part: NotebookPart, ids: Set<string>): readonly JsonObject[] {
  const results = new Map(part.results.map((result) => [result.index, result]))
  const prefix = part.executionId.slice(-12)
  if (part.document === null)
    return part.cells.map(({ index, code }) =>
      codeCell({ id: uniqueId(ids, null, `${prefix}-${index}`), metadata: {}, source: code, result: results.get(index) }),
    )
  const cells = Array.isArray(part.document['cells']) ? (part.document['cells'] as readonly unknown[]) : []
  return cells.filter(isObject).map((cell, index) => {
    const id = uniqueId(ids, cell['id'], `${prefix}-${index}`)
    const metadata = validMetadata(cell['metadata'])
    if (cell['cell_type'] === 'code') return codeCell({ id, metadata, source: sourceOf(cell['source']), result: results.get(index) })
    return {
      cell_type: cell['cell_type'] === 'raw' ? 'raw' : 'markdown',
      id,
      metadata,
      source: sourceOf(cell['source']),
      ...(isObject(cell['attachments']) ? { attachments: validAttachments(cell['attachments']) } : {}),
    }
  })
}

const codeCell = ({
  id,
  metadata,
  source,
  result,
}: {
  readonly id: string
  readonly metadata: JsonObject
  readonly source: string
  readonly result: CellResult | undefined
}): JsonObject => ({
  cell_type: 'code',
  id,
  metadata,
  source,
  execution_count: result?.executionCount ?? null,
  outputs: (result?.outputs ?? []).map(toNbformat),
})

/** nbformat allows letters, digits, "-" and "_", at most 64. */
function uniqueId(taken: Set<string>, wanted: unknown, fallback: string): string {
  const base = typeof wanted === 'string' && /^[\w-]{1,64}$/.test(wanted) ? wanted : fallback
  let id = base
  for (let n = 2; taken.has(id); n++) id = `${base.slice(0, 56)}-${n}`
  taken.add(id)
  return id
}

function toNbformat(output: Output): Output {
  if (output.output_type === 'display_data' || output.output_type === 'execute_result') return { ...output, data: validBundle(output.data) }
  return output
}

/** nbformat requires text for every type except JSON ones. A reference without its content becomes a sentence. */
function validBundle(bundle: MimeBundle): MimeBundle {
  const valid: Record<string, unknown> = {}
  for (const [mime, value] of Object.entries(bundle)) {
    if (mime === REF_MIME) continue
    const isText = typeof value === 'string' || (Array.isArray(value) && value.every((line) => typeof line === 'string'))
    valid[mime] = isText || isJsonMime(mime) ? value : JSON.stringify(value)
  }
  if (Object.keys(valid).length === 0) valid['text/plain'] = '[This output is too large for the notebook. Read it from the execution.]'
  return valid
}
