import type { ExecutionEvent } from '../../core/events.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { fileName } from '../../core/files/file-path.ts'
import type { ApiDeps } from '../deps.ts'
import { renderExecutionFile } from './execution.ts'
import { renderOutput } from './outputs.ts'
import { presigner } from './presign.ts'

/** Makes the `data` of an execution's events: the wire's names, times in ISO 8601, links made at read time. */
export function eventRenderer(
  deps: Pick<ApiDeps, 'table' | 'objects'>,
  row: Execution,
  publicUrl: string,
): (event: ExecutionEvent) => Promise<Readonly<Record<string, unknown>>> {
  const presign = presigner(deps.objects, publicUrl)
  return async (event) => {
    const { seq } = event
    const at = new Date(event.at).toISOString()
    switch (event.type) {
      case 'output':
        return {
          seq,
          at,
          cell: event.cell,
          output: await renderOutput(event.output, presign),
          ...(event.displayId === undefined ? {} : { display_id: event.displayId }),
          ...(event.replaces === undefined ? {} : { replaces: event.replaces }),
        }
      case 'file': {
        const stored = await deps.table.files.get(row.tenant, row.containerId, event.file.id)
        const url = stored?.state === 'stored' ? await presign(stored.objectKey, fileName(event.file.path), event.file.mime) : null
        return { seq, at, file: renderExecutionFile(event.file, url) }
      }
      case 'status':
        return { seq, at, status: event.status }
      case 'stdout':
      case 'stderr':
        return { seq, at, cell: event.cell, text: event.text }
      case 'clear':
        return { seq, at, cell: event.cell, wait: event.wait }
      case 'lost':
        return { seq, at, what: event.what, reason: event.reason }
      case 'done':
        return { seq, at, status: event.status, reason: event.reason }
    }
  }
}
