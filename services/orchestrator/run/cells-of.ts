import type { ExecutionSource } from '../../core/execution.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'

export interface SourceCells {
  readonly cells: readonly { readonly code: string }[]
  /** The notebook position of each cell, `[0]` for plain code. */
  readonly indexes: readonly number[]
}

/** What the supervisor is to run, in order. */
export async function cellsOf(objects: ObjectStore, source: ExecutionSource): Promise<SourceCells> {
  switch (source.kind) {
    case 'code':
      return { cells: [{ code: source.code }], indexes: [0] }
    case 'notebook':
      return { cells: source.cells.map(({ code }) => ({ code })), indexes: source.cells.map(({ index }) => index) }
    case 'blob': {
      const object = await objects.get(source.code.objectKey)
      if (object === null) throw new Error(`The source object ${source.code.objectKey} is gone`)
      const chunks: Uint8Array[] = []
      for await (const chunk of object.body) chunks.push(chunk)
      return { cells: [{ code: Buffer.concat(chunks).toString('utf8') }], indexes: [0] }
    }
  }
}
