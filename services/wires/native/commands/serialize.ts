import { filePresigner } from '../../../operations/files/presign.ts'
import { storedBytes } from '../../../operations/executions/stored-bytes.ts'
import { textSoFar } from '../../../operations/executions/text-so-far.ts'
import type { ApiDeps } from '../../../http/deps.ts'
import { type Execution } from '../../../model/executions/execution.ts'
import { loadResult } from '../../../operations/executions/load-result.ts'
import { renderFiles, renderUsage, type Reader } from '../executions/serialize.ts'

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** A command as the native wire has it. Throws ServiceError `too_many_results` when the process holds too many results. */
export function renderCommand(
  deps: Pick<ApiDeps, 'objects' | 'table' | 'results'>,
  row: Execution,
  { publicUrl, caller }: Reader,
): Promise<Readonly<Record<string, unknown>>> {
  const { source } = row
  if (source.kind !== 'command') throw new Error(`${row.id} is not a command`)
  return deps.results.hold(storedBytes(row), async () => {
    const [result, soFar] = await Promise.all([loadResult(deps.objects, row), textSoFar(deps.table.events, row)])
    return {
      id: row.id,
      object: 'command',
      container_id: row.containerId,
      v: 1,
      argv: source.argv,
      cwd: row.scope?.cwd ?? null,
      background: source.isBackground,
      pty: source.pty,
      status: row.status,
      reason: row.reason,
      exit_code: result?.exit?.code ?? null,
      signal: result?.exit?.signal ?? null,
      created_at: iso(row.createdAt),
      started_at: iso(row.startedAt),
      ended_at: iso(row.endedAt),
      stdout: (result ?? soFar)?.stdout ?? '',
      stderr: (result ?? soFar)?.stderr ?? '',
      files: await renderFiles(deps, row, result?.files ?? [], filePresigner(deps.objects, publicUrl, caller)),
      lost: result?.lost ?? row.lostBefore,
      usage: result === null ? null : renderUsage(result),
      metadata: row.metadata,
    }
  })
}
