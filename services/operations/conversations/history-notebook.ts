import { buildNotebook, type NotebookPart } from '../../model/executions/notebook.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { isVisible } from '../access.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { NOTEBOOK_INLINE_BYTES, notebookPart } from '../executions/notebook-parts.ts'
import { storedBytes } from '../executions/stored-bytes.ts'
import type { History } from './history.ts'

type Wire = Readonly<Record<string, unknown>>

/** Maximum size of execution outputs in a notebook, bytes; older cells beyond it have code and no outputs. */
const MAX_BYTES = 64 * 1024 * 1024

/**
 * A conversation as an executed notebook: messages as markdown, each call of the interpreter as an executed cell with its outputs. If the execution was
 * removed, the outputs of the item are used.
 */
export async function historyNotebook(
  deps: { readonly table: Pick<Table, 'executions'>; readonly objects: ObjectStore },
  caller: Caller,
  { items, isWhole }: History,
): Promise<ReturnType<typeof buildNotebook>> {
  const budget = { bytes: NOTEBOOK_INLINE_BYTES }
  let left = MAX_BYTES
  const parts: NotebookPart[] = []
  // The newest first, so that the oldest are omitted if the space is not sufficient.
  for (const [index, item] of [...items.entries()].toReversed()) {
    const text = item['type'] === 'message' ? textOf(item) : ''
    if (text !== '') parts.push(markdown(`item${index}`, text))
    if (item['type'] !== 'code_interpreter_call') continue
    const id = (item['x_cellblock'] as Wire | undefined)?.['execution_id']
    const row = typeof id === 'string' ? await deps.table.executions.get(caller.tenant, id) : null
    left -= row === null ? 0 : storedBytes(row)
    parts.push(row === null || !isVisible(row, caller) || left < 0 ? fromItem(item, index) : await notebookPart(deps.objects, row, budget))
  }
  if (!isWhole) parts.push(markdown('earlier', '*Earlier turns of this conversation are left out: the notebook would be too big.*'))
  return buildNotebook(parts.toReversed())
}

const markdown = (id: string, source: string): NotebookPart => ({
  executionId: id,
  cells: [],
  results: [],
  document: { cells: [{ cell_type: 'markdown', source }] },
})

function textOf(item: Wire): string {
  const { content, role } = item
  const parts = Array.isArray(content) ? (content as readonly Wire[]) : []
  const text =
    typeof content === 'string'
      ? content
      : parts
          .map((part) => part['text'] ?? part['refusal'])
          .filter((one) => typeof one === 'string')
          .join('\n\n')
  return text === '' || role === 'assistant' ? text : `**${role === 'user' ? 'User' : 'Instructions'}:** ${text}`
}

function fromItem(item: Wire, index: number): NotebookPart {
  const outputs = Array.isArray(item['outputs']) ? (item['outputs'] as readonly Wire[]) : []
  const logs = outputs.flatMap((output) => (typeof output['logs'] === 'string' ? [output['logs']] : []))
  return {
    executionId: `item${index}`,
    cells: [{ index: 0, code: typeof item['code'] === 'string' ? item['code'] : '' }],
    results: [
      {
        index: 0,
        status: 'ok',
        executionCount: null,
        outputs: logs.map((text) => ({ output_type: 'stream' as const, name: 'stdout' as const, text })),
      },
    ],
    document: null,
  }
}
