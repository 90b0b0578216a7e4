import type { Execution } from '../../model/executions/execution.ts'

/** Memory that an answer with the whole execution needs, bytes: the row and its objects. */
export function storedBytes(row: Execution): number {
  const { source, result, resultRef } = row
  const sourceBytes =
    source.kind === 'code'
      ? Buffer.byteLength(source.code)
      : source.kind === 'blob'
        ? source.code.bytes
        : source.kind === 'command'
          ? source.argv.reduce((sum, argument) => sum + argument.length, (source.storedArgv?.bytes ?? 0) + (source.stdin?.length ?? 0))
          : source.notebook.bytes + source.cells.reduce((sum, cell) => sum + cell.code.length, 0)
  return sourceBytes + (resultRef?.bytes ?? (result === null ? 0 : Buffer.byteLength(JSON.stringify(result))))
}
