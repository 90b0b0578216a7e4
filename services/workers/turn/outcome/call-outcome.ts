import pLimit from 'p-limit'
import { emptyResult } from '../../../model/executions/empty-result.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { fileName } from '../../../model/files/file-path.ts'
import type { ContainerFile, ExecutionFile } from '../../../model/files/file.ts'
import { createLink, linkDaysOf } from '../../../operations/links/create-link.ts'
import { loadResult } from '../../../operations/executions/load-result.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Table } from '../../../ports/table.ts'
import type { ResponseRequest } from '../../../model/responses/response.ts'
import type { LinkedFile } from '../../../model/responses/linked-file.ts'
import { linkImages } from './images.ts'
import { logsOf } from './logs.ts'
import { modelTextOf } from './model-text.ts'
import { linkBundles } from './link-bundles.ts'
import type { CallOutcome } from '../../../model/responses/items/code-interpreter-call.ts'

const LINKS_AT_ONCE = 16

/** Converts a finished execution into the result of its call. Every file version and every image gets one link. */
export async function buildCallOutcome(
  ports: { readonly table: Pick<Table, 'files' | 'tenants' | 'links'>; readonly objects: ObjectStore; readonly clock: Clock },
  execution: Execution,
  { hidesPictures = false }: Pick<ResponseRequest, 'hidesPictures'>,
): Promise<CallOutcome> {
  const result = (await loadResult(ports.objects, execution)) ?? emptyResult(execution, execution.endedAt ?? execution.createdAt)
  const outputs = result.cells.flatMap((cell) => cell.outputs)
  const [images, files] = await Promise.all([linkImages(ports, execution, outputs), linkFiles(ports, execution, result.files)])
  return {
    executionId: execution.id,
    status: execution.status,
    reason: execution.reason,
    logs: logsOf(result),
    images: images.map(({ linkId, url, mime, objectKey, bytes }) => ({ linkId, url, mime, objectKey, bytes })),
    files,
    lost: result.lost,
    error: result.error,
    usage: result.usage,
    outputs: await linkBundles(ports, execution, { outputs, images }),
    modelText: modelTextOf(execution, result, hidesPictures),
  }
}

/** The files, each with a long-lived link; missing files are omitted. */
export async function linkFiles(
  ports: { readonly table: Pick<Table, 'files' | 'tenants' | 'links'>; readonly clock: Clock },
  execution: Execution,
  files: readonly ExecutionFile[],
): Promise<LinkedFile[]> {
  if (files.length === 0) return []
  const [all, days] = await Promise.all([
    ports.table.files.all(execution.tenant, execution.containerId),
    linkDaysOf(ports.table.tenants, execution.tenant),
  ])
  const rows = new Map(all.map((row) => [row.id, row]))
  const slots = pLimit(LINKS_AT_ONCE)
  const linked = await Promise.all(
    files.map((file) =>
      slots(async () => {
        const row = rows.get(file.id)
        if (row === undefined) return null
        const { id: linkId, url } = await linkFile(ports, row, { publicUrl: execution.publicUrl, days })
        return { ...file, url, linkId }
      }),
    ),
  )
  return linked.filter((file) => file !== null)
}

/** A link to this version of the file; later versions do not change what it shows. */
export async function linkFile(
  ports: { readonly table: Pick<Table, 'links'>; readonly clock: Clock },
  file: Pick<ContainerFile, 'id' | 'tenant' | 'containerId' | 'objectKey' | 'path' | 'mime' | 'bytes'>,
  { publicUrl, days }: { readonly publicUrl: string; readonly days: number },
): Promise<{ readonly id: string; readonly url: string }> {
  const { tenant, containerId, id: fileId } = file
  const target = { objectKey: file.objectKey, filename: fileName(file.path), mime: file.mime, bytes: file.bytes }
  return createLink(ports.table.links, { tenant, containerId, fileId, target, publicUrl, days }, ports.clock.now())
}
