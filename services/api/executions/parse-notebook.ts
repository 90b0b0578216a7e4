import { ServiceError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'

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
    refuse(`The notebook has ${cells.length} cells; at most ${LIMITS.maxNotebookCells} are taken.`, 'notebook.cells', 'Split it.')
  const code = cells.flatMap((cell: unknown, index) => codeOf(cell, index))
  if (code.length === 0) refuse('The notebook has no code cell, so there is nothing to run.', 'notebook.cells', 'Add one.')
  const bytes = Buffer.byteLength(JSON.stringify(code))
  if (bytes > LIMITS.maxNotebookCodeBytes)
    throw new ServiceError(
      'request_too_large',
      `The code in the notebook is ${bytes} bytes; at most ${LIMITS.maxNotebookCodeBytes} are taken. Split it.`,
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
