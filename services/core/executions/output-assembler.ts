import type { CellResult, ExecutionError } from './execution.ts'
import type { MimeBundle, Output } from './outputs.ts'
import type { SupervisorEvent } from '../ports/supervisor.ts'

interface Cell {
  readonly index: number
  status: CellResult['status']
  executionCount: number | null
  outputs: Output[]
  /** The last error that the cell displayed; the cause of the failure if the cell fails. Code may display an error and continue. */
  error: ExecutionError | null
  displays: Map<string, number[]>
  clearOnNext: boolean
}

/** Converts supervisor events into nbformat outputs per cell, as Jupyter's front ends display them. */
export class OutputAssembler {
  readonly #cells = new Map<number, Cell>()
  readonly #text = { stdout: [] as string[], stderr: [] as string[] }
  #error: ExecutionError | null = null
  readonly #indexes: readonly number[]

  /** `indexes`: the notebook position of each cell that was sent, in order; `[0]` for plain code. */
  constructor(indexes: readonly number[]) {
    this.#indexes = indexes
  }

  /** The notebook position of the cell that a supervisor event belongs to. */
  cellIndex(index: number): number {
    return this.#indexes[index] ?? index
  }

  add(event: SupervisorEvent): void {
    switch (event.type) {
      case 'cell_started':
        this.#cell(event.index).executionCount = event.executionCount
        return
      case 'stream':
        this.#text[event.name].push(event.text)
        this.#append(event.index, { output_type: 'stream', name: event.name, text: event.text })
        return
      case 'display':
        this.#append(event.index, displayOutput(event), event.displayId)
        return
      case 'update_display':
        this.#update(event.displayId, event.data, event.metadata)
        return
      case 'clear_output': {
        const cell = this.#cell(event.index)
        if (event.wait) cell.clearOnNext = true
        else clear(cell)
        return
      }
      case 'error':
        this.#cell(event.index).error = { name: event.name, value: event.value, traceback: event.traceback }
        this.#append(event.index, { output_type: 'error', ename: event.name, evalue: event.value, traceback: event.traceback })
        return
      case 'cell_done': {
        const cell = this.#cell(event.index)
        cell.status = event.status
        cell.executionCount = event.executionCount ?? cell.executionCount
        if (event.status === 'error') this.#error ??= cell.error
        return
      }
      case 'started':
      case 'done':
        return
    }
  }

  cells(): CellResult[] {
    return [...this.#cells.values()]
      .toSorted((a, b) => a.index - b.index)
      .map((cell) => ({
        index: this.cellIndex(cell.index),
        status: cell.status,
        executionCount: cell.executionCount,
        outputs: cell.outputs.map((output) =>
          output.output_type === 'execute_result' ? { ...output, execution_count: cell.executionCount } : output,
        ),
      }))
  }

  get stdout(): string {
    return this.#text.stdout.join('')
  }
  get stderr(): string {
    return this.#text.stderr.join('')
  }
  /** The error of the first failed cell; null when none failed. */
  get error(): ExecutionError | null {
    return this.#error
  }

  #cell(index: number): Cell {
    let cell = this.#cells.get(index)
    if (cell === undefined) {
      // A cell that started and did not report its end is aborted.
      cell = { index, status: 'aborted', executionCount: null, outputs: [], error: null, displays: new Map(), clearOnNext: false }
      this.#cells.set(index, cell)
    }
    return cell
  }

  #append(index: number, output: Output, displayId: string | null = null): void {
    const cell = this.#cell(index)
    if (cell.clearOnNext) clear(cell)
    const last = cell.outputs.at(-1)
    if (output.output_type === 'stream' && last?.output_type === 'stream' && last.name === output.name) {
      cell.outputs[cell.outputs.length - 1] = { ...last, text: last.text + output.text }
      return
    }
    if (displayId !== null) cell.displays.set(displayId, [...(cell.displays.get(displayId) ?? []), cell.outputs.length])
    cell.outputs.push(output)
  }

  #update(displayId: string, data: MimeBundle, metadata: Readonly<Record<string, unknown>>): void {
    for (const cell of this.#cells.values()) {
      for (const position of cell.displays.get(displayId) ?? []) {
        const output = cell.outputs[position]
        if (output?.output_type === 'display_data' || output?.output_type === 'execute_result')
          cell.outputs[position] = { ...output, data, metadata }
      }
    }
  }
}

function clear(cell: Cell): void {
  cell.outputs = []
  cell.displays.clear()
  cell.clearOnNext = false
}

export function displayOutput(event: Extract<SupervisorEvent, { type: 'display' }>): Output {
  return event.outputType === 'execute_result'
    ? { output_type: 'execute_result', execution_count: event.executionCount, data: event.data, metadata: event.metadata }
    : { output_type: 'display_data', data: event.data, metadata: event.metadata }
}
