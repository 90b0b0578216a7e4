import type { SandboxEvent } from './events/event-types.ts'
import { assembleEvent } from './events/event-types.ts'
import { CellOutputs } from './events/cell-outputs.ts'
import type { CellResult, ExecutionError } from './outputs.ts'

/** Converts a sandbox's events into nbformat outputs per cell. */
export class OutputAssembler {
  readonly #outputs: CellOutputs
  readonly #indexes: readonly number[]

  /** `indexes`: the notebook position of each cell that was sent, in order; `[0]` for plain code, none for a command. */
  constructor(indexes: readonly number[]) {
    this.#indexes = indexes
    this.#outputs = new CellOutputs(indexes.length > 0)
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
    return this.#outputs.text.stdout.toString()
  }
  get stderr(): string {
    return this.#outputs.text.stderr.toString()
  }
  /** Characters of each stream that the event log has and the result does not. */
  get leftOut(): { readonly stdout: number; readonly stderr: number } {
    const { stdout, stderr } = this.#outputs.text
    return { stdout: stdout.leftOut, stderr: stderr.leftOut }
  }
  /** The error of the first failed cell; null when none failed. */
  get error(): ExecutionError | null {
    return this.#outputs.error
  }
}
