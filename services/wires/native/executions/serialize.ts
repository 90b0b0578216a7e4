import type { ApiDeps } from '../../../http/deps.ts'
import { filePresigner, presigner, type Presign, type PresignFile } from '../../../operations/files/presign.ts'
import { inlineOutput } from '../../../operations/executions/notebook-parts.ts'
import type { QueuePlace } from '../../../operations/executions/queue-place.ts'
import { textSoFar } from '../../../operations/executions/text-so-far.ts'
import { storedBytes } from '../../../operations/executions/stored-bytes.ts'
import { fitResult, type FittedResult, type InlineBudget } from './inline-outputs.ts'
import { renderOutputs, renderOutput } from './outputs.ts'
import { refsOf, type Output } from '../../../model/executions/outputs.ts'
import { LIMITS } from '../../../model/limits.ts'
import { plainFields } from '../../../model/executions/events/event-types.ts'
import type { ExecutionEvent } from '../../../model/executions/execution-event.ts'
import { type Execution, type ExecutionResult, hasEnded } from '../../../model/executions/execution.ts'
import { loadResult } from '../../../operations/executions/load-result.ts'
import { fileName } from '../../../model/files/file-path.ts'
import type { ContainerFile, ExecutionFile } from '../../../model/files/file.ts'
import type { FileStore } from '../../../ports/file-store.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Caller } from '../../../model/tenants/tenant.ts'

type RenderDeps = Pick<ApiDeps, 'objects' | 'table' | 'results'>
const NO_OUTPUT: Pick<ExecutionResult, 'cells' | 'stdout' | 'stderr' | 'error'> = { cells: [], stdout: '', stderr: '', error: null }

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** More files than this are read with one query over the container. */
const FEW_FILES = 8

/** The reader of an answer. */
export interface Reader {
  readonly publicUrl: string
  /** URLs of files need the scope `files`. */
  readonly caller: Pick<Caller, 'scopes'>
}

export interface RenderOptions extends Reader {
  /** Its place while it waits. */
  readonly place?: QueuePlace | null
  /** Shared by the executions of one answer; otherwise the default budget. */
  readonly budget?: InlineBudget
  /** Also embeds parts that are stored as objects, with a larger budget. */
  readonly isWhole?: boolean
}

/** An execution as the native wire has it. Throws ServiceError `too_many_results` when the process holds too many results. */
export async function renderExecution(
  deps: RenderDeps,
  row: Execution,
  options: RenderOptions,
): Promise<Readonly<Record<string, unknown>>> {
  return deps.results.hold(storedBytes(row), async () => renderWith(deps, row, await loadResult(deps.objects, row), options))
}

/** Without its result, which can be read later. */
export const renderPending = (deps: RenderDeps, row: Execution, options: RenderOptions): Promise<Readonly<Record<string, unknown>>> =>
  renderWith(deps, row, null, options)

async function renderWith(
  deps: RenderDeps,
  row: Execution,
  result: ExecutionResult | null,
  { publicUrl, caller, place = null, budget, isWhole = false }: RenderOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const presign = presigner(deps.objects, publicUrl)
  const address = `${publicUrl}/v1/executions/${row.id}`
  const left = budget ?? { bytes: isWhole ? LIMITS.maxInlineAnswerBytes : LIMITS.inlineAnswerBytes }
  const soFar = result === null ? await textSoFar(deps.table.events, row) : null
  const fitted = fitResult(result ?? { ...NO_OUTPUT, ...soFar }, left, {
    whole: `${address}?inline=all`,
    part: (cell, output, mime) => `${address}/outputs/${cell}/${output}?type=${encodeURIComponent(mime)}`,
  })
  const cells = isWhole
    ? await deps.results.hold(Math.min(left.bytes, objectBytes(fitted.cells)), () => embedObjects(deps.objects, fitted.cells, left))
    : fitted.cells
  const [body, files] = await Promise.all([
    renderBody(row, cells, presign),
    renderFiles(deps, row, result?.files ?? [], filePresigner(deps.objects, publicUrl, caller)),
  ])
  const isPending = result === null && hasEnded(row.status)
  const omitted = isPending ? [{ what: 'result', bytes: storedBytes(row), url: address }] : fitted.omitted
  return {
    id: row.id,
    object: 'execution',
    container_id: row.containerId,
    v: 1,
    language: row.language ?? 'python',
    status: row.status,
    reason: row.reason,
    created_at: iso(row.createdAt),
    started_at: iso(row.startedAt),
    ended_at: iso(row.endedAt),
    ...renderPlace(place),
    ...body,
    stdout: fitted.stdout,
    stderr: fitted.stderr,
    error: fitted.error,
    files,
    lost: result?.lost ?? row.lostBefore,
    ...(omitted.length === 0 ? {} : { omitted }),
    usage: result === null ? null : renderUsage(result),
    metadata: row.metadata,
  }
}

const renderPlace = (place: QueuePlace | null): Readonly<Record<string, unknown>> => ({
  ...(place !== null && { queue_position: place.position }),
  ...(place !== null && place.expectedStartAt !== null && { expected_start_at: iso(place.expectedStartAt) }),
})

/** Bytes of the parts that are stored as objects. */
const objectBytes = (cells: FittedResult['cells']): number =>
  cells
    .flatMap(({ outputs }) => outputs)
    .flatMap((output) => ('data' in output ? refsOf(output.data) : []))
    .reduce((sum, { bytes }) => sum + bytes, 0)

async function embedObjects(objects: ObjectStore, cells: FittedResult['cells'], budget: InlineBudget): Promise<FittedResult['cells']> {
  const embedded = []
  for (const cell of cells) {
    const outputs: Output[] = []
    for (const output of cell.outputs) outputs.push(await inlineOutput(objects, output, budget))
    embedded.push({ ...cell, outputs })
  }
  return embedded
}

async function renderBody(row: Execution, cells: FittedResult['cells'], presign: Presign): Promise<Readonly<Record<string, unknown>>> {
  if (row.source.kind !== 'notebook') return { outputs: await renderOutputs(cells[0]?.outputs ?? [], presign) }
  return {
    cells: await Promise.all(
      cells.map(async (cell) => ({
        index: cell.index,
        execution_count: cell.executionCount,
        status: cell.status,
        outputs: await renderOutputs(cell.outputs, presign),
      })),
    ),
  }
}

export async function renderFiles(
  deps: Pick<ApiDeps, 'table'>,
  row: Execution,
  files: readonly ExecutionFile[],
  presign: PresignFile,
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

export const renderExecutionFile = (file: ExecutionFile, url: string | null): Readonly<Record<string, unknown>> => ({
  id: file.id,
  path: `/mnt/data/${file.path}`,
  bytes: file.bytes,
  sha256: file.sha256,
  mime: file.mime,
  url,
  is_new: file.isNew,
  ...(file.modifiedFrom === null ? {} : { modified_from: file.modifiedFrom }),
})

export const renderUsage = ({ usage }: ExecutionResult): Readonly<Record<string, number>> => ({
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
  deps: Pick<ApiDeps, 'table' | 'objects'>,
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
