import type { CommandSource, ExecutionSource } from '../../model/executions/execution.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { readBytes } from '../../model/read-bytes.ts'

export interface SourceCells {
  readonly cells: readonly { readonly code: string }[]
  /** The notebook position of each cell, `[0]` for plain code. */
  readonly indexes: readonly number[]
}

/** The cells that the supervisor runs, in order. */
export async function cellsOf(objects: ObjectStore, source: Exclude<ExecutionSource, CommandSource>): Promise<SourceCells> {
  switch (source.kind) {
    case 'code':
      return { cells: [{ code: source.code }], indexes: [0] }
    case 'notebook':
      return { cells: source.cells.map(({ code }) => ({ code })), indexes: source.cells.map(({ index }) => index) }
    case 'blob': {
      const object = await objects.get(source.code.objectKey)
      if (object === null) throw new Error(`The source object ${source.code.objectKey} is gone`)
      return { cells: [{ code: (await readBytes(object.body)).toString('utf8') }], indexes: [0] }
    }
  }
}
