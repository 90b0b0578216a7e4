import { ServiceError } from '../../model/errors.ts'
import type { CommandSource } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'

/** Exactly one of the two is set. */
export interface GivenSource {
  readonly code?: string | null | undefined
  readonly notebook?: Readonly<Record<string, unknown>> | null | undefined
}

/** The checked source, before anything is stored. */
export type CheckedSource =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'notebook'; readonly cells: readonly NotebookCode[]; readonly document: Buffer }
  | CommandSource

/** Throws ServiceError when there is not exactly one of code and notebook, or it is not acceptable. */
export function checkSource(body: GivenSource): Exclude<CheckedSource, CommandSource> {
  const { code, notebook } = body
  const hasCode = typeof code === 'string'
  const hasNotebook = notebook !== null && notebook !== undefined
  if (hasCode === hasNotebook)
    throw new ServiceError(
      'invalid_request',
      hasCode
        ? 'The request has both code and notebook. Send one of them.'
        : 'The request has neither code nor notebook. Send one of them.',
      { param: 'code' },
    )
  if (hasCode) {
    const bytes = Buffer.byteLength(code)
    if (bytes > LIMITS.maxCodeBytes)
      throw new ServiceError(
        'request_too_large',
        `The code is ${bytes} bytes; the maximum is ${LIMITS.maxCodeBytes}. Put data into files instead.`,
        { param: 'code' },
      )
    if (!code.isWellFormed())
      throw new ServiceError('invalid_request', 'The code is not valid Unicode: it has half of a surrogate pair. Send whole characters.', {
        param: 'code',
      })
    return { kind: 'code', code }
  }
  const cells = parseNotebook(notebook ?? {})
  const document = Buffer.from(JSON.stringify(notebook))
  if (document.byteLength > LIMITS.maxNotebookBytes)
    throw new ServiceError(
      'request_too_large',
      `The notebook is ${document.byteLength} bytes; the maximum is ${LIMITS.maxNotebookBytes}. Clear its outputs first.`,
      { param: 'notebook' },
    )
  return { kind: 'notebook', cells, document }
}

export interface NotebookCode {
  /** Position among all cells. */
  readonly index: number
  readonly code: string
}

const refuse = (message: string, param: string, advice = 'Send an nbformat 4 document as Jupyter saves it.'): never => {
  throw new ServiceError('invalid_notebook', `${message} ${advice}`, { param })
}

/** The code cells of an nbformat 4 document in order. Throws ServiceError `invalid_notebook` that names the cell at fault. */
export function parseNotebook(notebook: Readonly<Record<string, unknown>>): readonly NotebookCode[] {
  const major = notebook['nbformat']
  if (major !== 4) refuse(`The notebook's nbformat is ${JSON.stringify(major) ?? 'missing'}, not 4.`, 'notebook.nbformat')
  const cells = notebook['cells']
  if (!Array.isArray(cells)) return refuse('The notebook has no list of cells.', 'notebook.cells')
  if (cells.length > LIMITS.maxNotebookCells)
    refuse(`The notebook has ${cells.length} cells; the maximum is ${LIMITS.maxNotebookCells}.`, 'notebook.cells', 'Split it.')
  const code = cells.flatMap((cell: unknown, index) => codeOf(cell, index))
  if (code.length === 0) refuse('The notebook has no code cell, so there is nothing to run.', 'notebook.cells', 'Add one.')
  const bytes = Buffer.byteLength(JSON.stringify(code))
  if (bytes > LIMITS.maxNotebookCodeBytes)
    throw new ServiceError(
      'request_too_large',
      `The code in the notebook is ${bytes} bytes; the maximum is ${LIMITS.maxNotebookCodeBytes}. Split it.`,
      { param: 'notebook' },
    )
  return code
}

function codeOf(cell: unknown, index: number): readonly NotebookCode[] {
  const param = `notebook.cells[${index}]`
  if (typeof cell !== 'object' || cell === null || Array.isArray(cell)) return refuse(`Cell ${index} is not an object.`, param)
  const { cell_type: type, source } = cell as { readonly cell_type?: unknown; readonly source?: unknown }
  if (type !== 'code' && type !== 'markdown' && type !== 'raw')
    refuse(`Cell ${index} has no cell_type "code", "markdown" or "raw".`, `${param}.cell_type`)
  const text = sourceText(source)
  if (text === null) return refuse(`The source of cell ${index} is neither a string nor a list of strings.`, `${param}.source`)
  if (!text.isWellFormed()) refuse(`The source of cell ${index} is not valid Unicode.`, `${param}.source`)
  return type === 'code' ? [{ index, code: text }] : []
}

/** nbformat lets a source be one string or its lines. */
function sourceText(source: unknown): string | null {
  if (typeof source === 'string') return source
  return Array.isArray(source) && source.every((line) => typeof line === 'string') ? source.join('') : null
}
