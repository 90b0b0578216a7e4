import type { ApiDeps } from '../../../http/deps.ts'
import type { ExecutionShare } from '../../../model/executions/execution-share.ts'
import { plainFields } from '../../../model/executions/events/event-types.ts'
import type { ExecutionEvent } from '../../../model/executions/execution-event.ts'
import { hasEnded, type Execution, type ExecutionResult } from '../../../model/executions/execution.ts'
import { workKindOf } from '../../../model/executions/work-kinds.ts'
import { fileName } from '../../../model/files/file-path.ts'
import type { ContainerFile, ExecutionFile } from '../../../model/files/file.ts'
import type { Caller } from '../../../model/tenants/tenant.ts'
import { loadResult } from '../../../operations/executions/load-result.ts'
import { storedBytes } from '../../../operations/executions/stored-bytes.ts'
import { textSoFar } from '../../../operations/executions/execution-events.ts'
import { filePresigner, presigner, type PresignFile } from '../../../operations/files/presign.ts'
import type { FileStore } from '../../../ports/file-store.ts'
import { renderOutput } from './outputs.ts'

export type RenderDeps = Pick<ApiDeps, 'objects' | 'table' | 'results' | 'clock'>
export type Fields = Readonly<Record<string, unknown>>

/** More files than this are read with one query over the container. */
const FEW_FILES = 8

export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Where the row can be read. */
export const addressOf = (row: Execution, publicUrl: string): string => `${publicUrl}/v1/${workKindOf(row).name}s/${row.id}`

/** The reader of an answer. */
export interface Reader {
  readonly publicUrl: string
  /** URLs of files need the scope `files`. */
  readonly caller: Pick<Caller, 'scopes'>
}

export interface RenderOptions extends Reader {
  /** What the caller knows of the row's place in the queue. */
  readonly known?: { readonly queue?: readonly string[]; readonly share?: ExecutionShare }
  /** Shared by the rows of one answer; otherwise the default budget. */
  readonly budget?: { bytes: number }
  /** Also embeds parts that are stored as objects, with a larger budget. */
  readonly isWhole?: boolean
}

export interface Rendered {
  readonly row: Execution
  /** Null until it has ended, and for an answer without it. */
  readonly result: ExecutionResult | null
  /** The output so far, while it runs. */
  readonly soFar: Pick<ExecutionResult, 'stdout' | 'stderr'>
  readonly options: RenderOptions
}
/** The fields that only one kind of work has, and `stdout` and `stderr`. */
export type RenderFields = (deps: RenderDeps, rendered: Rendered) => Promise<Fields>

/** Work as the native wire has it. Throws ServiceError `too_many_results` when the process holds too many results. */
export function renderWork(
  deps: RenderDeps,
  row: Execution,
  { fields, ...options }: RenderOptions & { readonly fields: RenderFields },
): Promise<Fields> {
  return deps.results.hold(storedBytes(row), async () =>
    render(deps, fields, { row, result: await loadResult(deps.objects, row), options }),
  )
}

/** Without its result, which can be read later. */
export const renderPending = (
  deps: RenderDeps,
  row: Execution,
  { fields, ...options }: RenderOptions & { readonly fields: RenderFields },
): Promise<Fields> => render(deps, fields, { row, result: null, options })

async function render(deps: RenderDeps, fields: RenderFields, { row, result, options }: Omit<Rendered, 'soFar'>): Promise<Fields> {
  const soFar = (result === null ? await textSoFar(deps.table.events, row) : null) ?? { stdout: '', stderr: '' }
  const presign = filePresigner(deps.objects, options.publicUrl, options.caller)
  const [own, files] = await Promise.all([
    fields(deps, { row, result, soFar, options }),
    renderFiles(deps, row, { files: result?.files ?? [], presign }),
  ])
  const isPending = result === null && hasEnded(row.status)
  return {
    id: row.id,
    object: workKindOf(row).name,
    container_id: row.containerId,
    v: 1,
    status: row.status,
    reason: row.reason,
    created_at: iso(row.createdAt),
    started_at: iso(row.startedAt),
    ended_at: iso(row.endedAt),
    ...own,
    files,
    lost: result?.lost ?? row.lostBefore,
    ...(result?.network && { network: result.network }),
    ...(isPending && { omitted: [{ what: 'result', bytes: storedBytes(row), url: addressOf(row, options.publicUrl) }] }),
    usage: result === null ? null : renderUsage(result),
    metadata: row.metadata,
  }
}

async function renderFiles(
  deps: Pick<RenderDeps, 'table'>,
  row: Execution,
  { files, presign }: { readonly files: readonly ExecutionFile[]; readonly presign: PresignFile },
): Promise<readonly unknown[]> {
  if (files.length === 0) return []
  const rows = await rowsOf(deps.table.files, row, files)
  return Promise.all(
    files.map(async (file) => {
      const stored = rows.get(file.id)
      return renderExecutionFile(file, stored?.state === 'stored' ? await presign(stored.objectKey, fileName(file.path), file.mime) : null)
    }),
  )
}

async function rowsOf(store: FileStore, row: Execution, files: readonly ExecutionFile[]): Promise<ReadonlyMap<string, ContainerFile>> {
  const rows =
    files.length <= FEW_FILES
      ? await Promise.all(files.map((file) => store.get(row.tenant, row.containerId, file.id)))
      : await store.all(row.tenant, row.containerId)
  return new Map(rows.flatMap((file) => (file === null ? [] : [[file.id, file] as const])))
}

const renderExecutionFile = (file: ExecutionFile, url: string | null): Readonly<Record<string, unknown>> => ({
  id: file.id,
  path: `/mnt/data/${file.path}`,
  bytes: file.bytes,
  sha256: file.sha256,
  mime: file.mime,
  url,
  is_new: file.isNew,
  ...(file.modifiedFrom === null ? {} : { modified_from: file.modifiedFrom }),
})

const renderUsage = ({ usage }: ExecutionResult): Readonly<Record<string, number>> => ({
  queue_ms: usage.queueMs,
  start_ms: usage.startMs,
  run_ms: usage.runMs,
  cpu_ms: usage.cpuMs,
  peak_memory_bytes: usage.peakMemoryBytes,
  output_bytes: usage.outputBytes,
  sandbox_seconds: usage.sandboxSeconds,
  cost_usd: usage.costUsd,
})

/** Renders the `data` of an execution's events: the wire's names, times in ISO 8601, links created at read time. */
export function eventRenderer(
  deps: Pick<RenderDeps, 'table' | 'objects'>,
  row: Execution,
  { publicUrl, caller }: Reader,
): (event: ExecutionEvent) => Promise<Readonly<Record<string, unknown>>> {
  const presign = presigner(deps.objects, publicUrl)
  const presignFile = filePresigner(deps.objects, publicUrl, caller)
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
        const url = stored?.state === 'stored' ? await presignFile(stored.objectKey, fileName(event.file.path), event.file.mime) : null
        return { seq, at, file: renderExecutionFile(event.file, url) }
      }
      default:
        return { seq, at, ...plainFields(event) }
    }
  }
}
