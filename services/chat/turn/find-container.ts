import { createContainer } from '../../core/containers/create-container.ts'
import { findSource } from '../../core/files/file-source.ts'
import { derivedId } from '../../core/ids.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import { attachmentsIn } from '../conversation/attachments.ts'
import type { PastTurn } from '../conversation/past-turn.ts'
import type { TurnDeps } from '../deps.ts'
import { bringFiles } from './bring-files.ts'
import { containerBefore } from './container-before.ts'
import type { Turn } from './turn.ts'
import type { ContainerContext } from './container-context.ts'

/** What was read of a container is good for the next question of the same step this long, milliseconds, unless code has changed files since. */
const FRESH_MS = 1_000

export async function findWorkplace(deps: TurnDeps, turn: Turn, history: readonly PastTurn[]): Promise<ContainerContext> {
  const { table, clock } = deps
  const { tenant } = turn.row
  const readAt = clock.now()
  const known = turn.workplace
  if (known !== null && known.containerId === turn.containerId && readAt - known.readAt < FRESH_MS) return known
  const containerId = turn.containerId ?? (await containerBefore(deps, turn, history))
  if (containerId !== null) {
    await bringFiles(deps, turn.row, containerId)
    const stored = (await table.files.all(tenant, containerId)).filter((file) => file.isCurrent && file.state === 'stored')
    turn.workplace = { containerId, exists: true, files: stored, stored, readAt }
    return turn.workplace
  }
  const { interpreter, input } = turn.row.request
  const wanted = await Promise.all((interpreter?.fileIds ?? []).map((id) => findSource(table, tenant, id, clock.now())))
  const attached =
    interpreter === null ? [] : attachmentsIn(input).map(({ path, sha256, body }) => ({ id: sha256, path, bytes: body.length }))
  return {
    containerId: ownContainerId(turn.row),
    exists: false,
    files: [...wanted.filter((file) => file !== null), ...attached].map(({ id, path, bytes }) => ({ id, path, bytes, source: 'user' })),
    stored: [],
    readAt,
  }
}

/** The same for every step of a response, so that no crash leaves a second container behind. */
export const ownContainerId = (row: ResponseRecord): string => derivedId('container', row.createdAt, `${row.id}:container`)

/** Makes the container of `auto` with the files that the request names. Repeating it changes nothing. */
export async function makeContainer(deps: TurnDeps, row: ResponseRecord): Promise<void> {
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
