import { copyFile } from '../../core/copy-file.ts'
import { createContainer } from '../../core/create-container.ts'
import type { ContainerFile } from '../../core/file.ts'
import { findSource } from '../../core/file-source.ts'
import { derivedId } from '../../core/ids.ts'
import type { Response } from '../../core/response.ts'
import type { PastTurn } from '../conversation/past-turn.ts'
import type { TurnDeps } from '../deps.ts'
import type { Turn } from './turn.ts'

/** Where a turn's code will run. `auto` means the container of an earlier turn, else one that is made when code first runs. */
export interface Workplace {
  readonly containerId: string
  readonly exists: boolean
  /** Files that the model can name: those of the container, or those it will be made with. */
  readonly files: readonly WorkFile[]
}
export type WorkFile = Pick<ContainerFile, 'id' | 'tenant' | 'path' | 'bytes' | 'mime' | 'objectKey' | 'source'>

export async function findWorkplace(deps: TurnDeps, turn: Turn, history: readonly PastTurn[]): Promise<Workplace> {
  const { table } = deps
  const { tenant } = turn.row
  const containerId = turn.containerId ?? (await containerBefore(deps, turn, history))
  if (containerId !== null) {
    await bringFiles(deps, turn.row, containerId)
    const files = await table.files.all(tenant, containerId)
    return { containerId, exists: true, files: files.filter((file) => file.isCurrent && file.state === 'stored') }
  }
  const wanted = turn.row.request.interpreter?.fileIds ?? []
  const files = await Promise.all(wanted.map((id) => findSource(table, tenant, id, deps.clock.now())))
  return {
    containerId: ownContainerId(turn.row),
    exists: false,
    files: files.filter((file) => file !== null).map((file) => ({ ...file, source: 'user' })),
  }
}

/** The nearest earlier turn's container that was not deleted. */
async function containerBefore(deps: TurnDeps, turn: Turn, history: readonly PastTurn[]): Promise<string | null> {
  if (turn.row.request.interpreter === null) return null
  const id = history.findLast((earlier) => earlier.containerId !== null)?.containerId ?? null
  if (id === null) return null
  const container = await deps.table.containers.get(turn.row.tenant, id)
  return container === null || container.deletedAt !== null ? null : id
}

/** The same for every step of a response, so that no crash leaves a second container behind. */
export const ownContainerId = (row: Response): string => derivedId('container', row.createdAt, `${row.id}:container`)

/** Makes the container of `auto` with the files that the request names. Repeating it changes nothing. */
export async function makeContainer(deps: TurnDeps, row: Response): Promise<void> {
  const { table, clock } = deps
  const { tenant, subject, request } = row
  const containerId = ownContainerId(row)
  await createContainer(
    table,
    { tenant, subject, id: containerId, name: 'auto', memoryTier: request.interpreter?.memoryTier ?? '1g' },
    clock.now(),
  )
  await bringFiles(deps, row, containerId)
}

/** Copies the files that the request names into the container, each once: a later step finds them there, changed by code or not. */
async function bringFiles(deps: TurnDeps, row: Response, containerId: string): Promise<void> {
  const { table, clock } = deps
  for (const fileId of row.request.interpreter?.fileIds ?? []) {
    const id = derivedId('containerFile', row.createdAt, `${row.id}:${fileId}`)
    if ((await table.files.get(row.tenant, containerId, id)) !== null) continue
    const source = await findSource(table, row.tenant, fileId, clock.now())
    // A file that was deleted since the request was accepted is not there, as it would not be a moment later.
    if (source !== null) await copyFile(deps, source, { containerId, id }, clock.now())
  }
}
