import { displayValue } from '../../model/scan-json.ts'
import { storedBytes } from './stored-bytes.ts'
import type { Execution, ExecutionSource } from '../../model/executions/execution.ts'
import { loadResult } from './load-result.ts'
import { argumentsOf } from './store-source.ts'
import { CELL_MAGICS } from '../../model/executions/language.ts'
import type { NotebookPart } from '../../model/executions/notebook.ts'
import { REF_MIME, refsOf, type Output } from '../../model/executions/outputs.ts'
import type { ExecutionStore } from '../../ports/execution-store.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Page } from '../../model/page.ts'
import { readBytes } from '../../model/read-bytes.ts'
import { readJson } from '../../ports/read-json.ts'

/** Maximum size of stored outputs that a downloaded notebook embeds, bytes. Further ones are named, not embedded. */
export const NOTEBOOK_INLINE_BYTES = 16 * 1024 * 1024
export interface Budget {
  bytes: number
}

/** An execution with its document and outputs; stored outputs are loaded while the budget lasts. */
export async function notebookPart(objects: ObjectStore, row: Execution, budget: Budget): Promise<NotebookPart> {
  const result = await loadResult(objects, row)
  const results = []
  for (const cell of result?.cells ?? []) {
    const outputs: Output[] = []
    for (const output of cell.outputs) outputs.push(await inlineOutput(objects, output, budget))
    results.push({ ...cell, outputs })
  }
  const { source } = row
  const document = source.kind === 'notebook' ? ((await readJson(objects, source.notebook)) as Readonly<Record<string, unknown>>) : null
  const cells =
    source.kind === 'notebook'
      ? source.cells
      : [{ index: 0, code: CELL_MAGICS[row.language ?? 'python'] + (await codeOf(objects, source)) }]
  return { executionId: row.id, cells, results, document }
}

async function codeOf(objects: ObjectStore, source: Exclude<ExecutionSource, { readonly kind: 'notebook' }>): Promise<string> {
  switch (source.kind) {
    case 'code':
      return source.code
    case 'blob':
      return textOf(objects, source.code.objectKey)
    case 'command':
      return (await argumentsOf(objects, source)).join(' ')
  }
}

const textOf = async (objects: ObjectStore, key: string): Promise<string> => {
  const object = await objects.get(key)
  return object === null ? '' : (await readBytes(object.body)).toString('utf8')
}

/** An output with the parts that are stored as objects embedded, while the budget lasts. */
export async function inlineOutput(objects: ObjectStore, output: Output, budget: Budget): Promise<Output> {
  if (!('data' in output) || !(REF_MIME in output.data)) return output
  const data: Record<string, unknown> = { ...output.data }
  for (const ref of refsOf(output.data)) {
    if (ref.bytes > budget.bytes) continue
    const object = await objects.get(ref.objectKey)
    if (object === null) continue
    budget.bytes -= ref.bytes
    data[ref.mime] = decode(await readBytes(object.body), ref.mime)
  }
  return { ...output, data }
}

/** Text as it is, JSON parsed, everything else base64: nbformat's own rule. */
function decode(bytes: Buffer, mime: string): unknown {
  if (mime.startsWith('text/') || mime === 'image/svg+xml' || mime === 'application/javascript') return bytes.toString('utf8')
  return mime.endsWith('json') ? displayValue(bytes) : bytes.toString('base64')
}

/** Maximum number of a container's newest executions in a notebook, and their size in bytes. */
export const MAX_EXECUTIONS = 500
export const MAX_NOTEBOOK_BYTES = 64 * 1024 * 1024
const PAGE = 25

const LEFT_OUT: NotebookPart = {
  executionId: 'earlier',
  cells: [],
  results: [],
  document: {
    cells: [
      {
        cell_type: 'markdown',
        source: '*Earlier executions of this container are left out: the notebook would be too big. Each has a separate notebook.*',
      },
    ],
  },
}

/** The executions of a container, oldest first, within the limits of a notebook. The first cell names the omitted ones. */
export async function containerParts(
  ports: { readonly objects: ObjectStore; readonly executions: Pick<ExecutionStore, 'listByContainer'> },
  container: { readonly tenant: string; readonly id: string },
  isVisible: (row: Execution) => boolean,
): Promise<readonly NotebookPart[]> {
  const parts: NotebookPart[] = []
  const budget = { bytes: NOTEBOOK_INLINE_BYTES }
  let left = MAX_NOTEBOOK_BYTES
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
