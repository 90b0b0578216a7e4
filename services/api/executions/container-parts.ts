import type { Execution } from '../../core/executions/execution.ts'
import type { NotebookPart } from '../../core/executions/notebook.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { ExecutionStore } from '../../core/ports/execution-store.ts'
import type { Page } from '../../core/ports/page.ts'
import { NOTEBOOK_INLINE_BYTES, notebookPart } from './notebook-part.ts'
import { storedBytes } from './stored-bytes.ts'

/** The newest executions of a container that a notebook takes in, and how many bytes of them. */
export const MAX_EXECUTIONS = 500
const MAX_BYTES = 64 * 1024 * 1024
const PAGE = 25

const LEFT_OUT: NotebookPart = {
  executionId: 'earlier',
  cells: [],
  results: [],
  document: {
    cells: [
      {
        cell_type: 'markdown',
        source: '*Earlier executions of this container are left out: the notebook would be too big. Each has a notebook of its own.*',
      },
    ],
  },
}

/** What ran in a container, oldest first, as far back as a notebook goes. What is left out is said in its first cell. */
export async function containerParts(
  ports: { readonly objects: ObjectStore; readonly executions: Pick<ExecutionStore, 'listByContainer'> },
  container: { readonly tenant: string; readonly id: string },
  isVisible: (row: Execution) => boolean,
): Promise<readonly NotebookPart[]> {
  const parts: NotebookPart[] = []
  const budget = { bytes: NOTEBOOK_INLINE_BYTES }
  let left = MAX_BYTES
  let after: string | null = null
  for (;;) {
    const page: Page<Execution> = await ports.executions.listByContainer(container.tenant, container.id, {
      after,
      limit: PAGE,
      order: 'desc',
    })
    for (const row of page.rows.filter(isVisible)) {
      left -= storedBytes(row)
      if (parts.length > 0 && (left < 0 || parts.length === MAX_EXECUTIONS)) return [LEFT_OUT, ...parts.toReversed()]
      parts.push(await notebookPart(ports.objects, row, budget))
    }
    after = page.rows.at(-1)?.id ?? null
    if (!page.hasMore || after === null) return parts.toReversed()
  }
}
