import type { CellResult, ExecutionError, MimeBundle, Output } from '../outputs.ts'
import { StreamText } from './stream-text.ts'

export interface Cell {
  readonly index: number
  status: CellResult['status']
  executionCount: number | null
  outputs: Output[]
  /** The last error that the cell displayed; the cause of the failure if the cell fails. Code may display an error and continue. */
  error: ExecutionError | null
  displays: Map<string, number[]>
  clearsOnNext: boolean
}

/** The outputs of the cells of one execution, as Jupyter's front ends display them. */
export class CellOutputs {
  readonly cells = new Map<number, Cell>()
  readonly text = { stdout: new StreamText(), stderr: new StreamText() }
  /** The error of the first failed cell. */
  error: ExecutionError | null = null
  readonly #hasCells: boolean

  /** The result of a command is the text of its streams alone. */
  constructor(hasCells: boolean) {
    this.#hasCells = hasCells
  }

  cell(index: number): Cell {
    let cell = this.cells.get(index)
    if (cell === undefined) {
      // A cell that started and did not report its end is aborted.
      cell = { index, status: 'aborted', executionCount: null, outputs: [], error: null, displays: new Map(), clearsOnNext: false }
      this.cells.set(index, cell)
    }
    return cell
  }

  append(index: number, output: Output, displayId: string | null = null): void {
    if (!this.#hasCells) return
    const cell = this.cell(index)
    if (cell.clearsOnNext) removeOutputs(cell)
    const last = cell.outputs.at(-1)
    if (output.output_type === 'stream' && last?.output_type === 'stream' && last.name === output.name) {
      cell.outputs[cell.outputs.length - 1] = { ...last, text: last.text + output.text }
      return
    }
    if (displayId !== null) cell.displays.set(displayId, [...(cell.displays.get(displayId) ?? []), cell.outputs.length])
    cell.outputs.push(output)
  }

  update(displayId: string, data: MimeBundle, metadata: Readonly<Record<string, unknown>>): void {
    for (const cell of this.cells.values()) {
      for (const position of cell.displays.get(displayId) ?? []) {
        const output = cell.outputs[position]
        if (output?.output_type === 'display_data' || output?.output_type === 'execute_result')
          cell.outputs[position] = { ...output, data, metadata }
      }
    }
  }
}

export function removeOutputs(cell: Cell): void {
  cell.outputs = []
  cell.displays.clear()
  cell.clearsOnNext = false
}
