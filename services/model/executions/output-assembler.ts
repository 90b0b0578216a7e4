import type { SandboxEvent } from './events/event-types.ts'
import { assembleEvent } from './events/event-types.ts'
import { CellOutputs } from './events/cell-outputs.ts'
import type { CellResult, ExecutionError } from './outputs.ts'

/** Converts a sandbox's events into nbformat outputs per cell. */
export class OutputAssembler {
  readonly #outputs = new CellOutputs()
  readonly #indexes: readonly number[]

  /** `indexes`: the notebook position of each cell that was sent, in order; `[0]` for plain code. */
  constructor(indexes: readonly number[]) {
    this.#indexes = indexes
  }

  /** The notebook position of the cell that a supervisor event belongs to. */
  cellIndex(index: number): number {
    return this.#indexes[index] ?? index
  }

  add(event: SandboxEvent): void {
    assembleEvent(event, this.#outputs)
  }

  cells(): CellResult[] {
    return [...this.#outputs.cells.values()]
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
    return this.#outputs.text.stdout.join('')
  }
  get stderr(): string {
    return this.#outputs.text.stderr.join('')
  }
  /** The error of the first failed cell; null when none failed. */
  get error(): ExecutionError | null {
    return this.#outputs.error
  }
}
