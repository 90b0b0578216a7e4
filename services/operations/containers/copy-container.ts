import { isHibernated, isSuspended, type Container, type Snapshot } from '../../model/containers/container.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { ServiceError } from '../../model/errors.ts'
import { derivedId } from '../../model/ids.ts'
import { newObjectKey, objectPrefix } from '../../model/object-keys.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { firstRetentionCheck } from '../../model/tenants/retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import { LOST_PROCESSES } from './detach-sandbox.ts'
import { removeSecrets } from '../network/new-policy.ts'

export interface CopyPorts {
  readonly table: Pick<Table, 'containers' | 'files' | 'secrets' | 'sandboxes'>
  readonly objects: ObjectStore
  readonly clock: Clock
}

/** What a container has stored (`isSaved`), and what of it copies get. */
export interface Contents {
  readonly source: Container
  /** Null: copies have no variables. */
  readonly snapshot: Snapshot | null
  readonly files: readonly ContainerFile[]
  /** Of one copy. */
  readonly bytes: number
}

export interface NewCopy {
  readonly id: string
  readonly name: string
  readonly isSnapshot?: boolean
  /** Has the processes in a checkpoint; null: they are not copied. */
  readonly sandbox: Sandbox | null
}

/** A copy that is not published within this time is removed by the reconciler, milliseconds. */
const PUBLISH_WITHIN_MS = 300_000
/** None is published so shortly before, milliseconds. */
const MARGIN_MS = 30_000

export async function contentsOf({ table }: CopyPorts, source: Container): Promise<Contents> {
  const files = (await table.files.all(source.tenant, source.id)).filter(({ isCurrent, state }) => isCurrent && state === 'stored')
  const snapshot = hasVariables(source) ? source.snapshot : null
  const skills = source.skills ?? []
  const bytes = [...files, ...skills].reduce((sum, part) => sum + part.bytes, snapshot?.bytes ?? 0)
  return { source, snapshot, files, bytes }
}

const isFresh = ({ snapshot, lastActiveAt }: Container): boolean => snapshot?.copiedAt === lastActiveAt
/** A sandbox that never ran, or could not save them, leaves a snapshot without bytes. */
const hasVariables = (source: Container): boolean => isHibernated(source) || (isFresh(source) && (source.snapshot?.bytes ?? 0) > 0)

/**
 * Makes a copy that no call sees: its row says that it is deleted, until it is published. A crash before leaves what the reconciler removes, as it does with
 * every deleted container. Throws ServiceError `storage_exhausted`.
 */
export async function makeCopy(ports: CopyPorts, contents: Contents, copy: NewCopy): Promise<Container> {
  const { table, clock } = ports
  const { source, files, snapshot } = contents
  const { tenant, skills = [] } = source
  const row = rowOf(contents, copy, clock.now())
  if (copy.sandbox !== null) await table.sandboxes.create({ ...copy.sandbox, dueAt: row.dueAt })
  await table.containers.create(row)
  if (snapshot !== null && row.snapshot !== null) await copyObject(ports, snapshot.objectKey, { objectKey: row.snapshot.objectKey })
  for (const [index, { objectKey }] of (row.skills ?? []).entries()) await copyObject(ports, skills[index]?.objectKey ?? '', { objectKey })
  for (const file of files) {
    const objectKey = newObjectKey(tenant, 'files', copy.id)
    await copyObject(ports, file.objectKey, { objectKey, contentType: file.mime })
    const id = derivedId('containerFile', file.createdAt, `${copy.id}:${file.id}`)
    await table.files.put({ ...file, id, containerId: copy.id, objectKey, executionId: null, sandboxGeneration: row.generation })
  }
  for (const secret of await table.secrets.list(tenant, source.id)) await table.secrets.put({ ...secret, owner: copy.id })
  return row
}

/** A new row with what the source is and has; nothing of its work, its links or what wires keep with it. */
function rowOf({ source, snapshot }: Contents, { id, name, sandbox, isSnapshot = false }: NewCopy, now: number): Container {
  const { tenant, subject, expiresAfterMinutes, memoryTier, image, limits, network, networkBytes, skills } = source
  const lostCommands = isSuspended(source) && sandbox === null ? [...(source.lostCommands ?? []), LOST_PROCESSES] : source.lostCommands
  const publishBefore = now + PUBLISH_WITHIN_MS
  const lost = isFresh(source) ? (source.snapshot?.lost ?? []) : (source.lostFiles ?? [])
  const lostFiles = lost.filter(({ what }) => what !== 'variables')
  const stateLost = isFresh(source) ? (lost.find(({ what }) => what === 'variables')?.reason ?? source.stateLost) : source.stateLost
  return {
    ...{ v: 1, tenant, subject, id, name, createdAt: now, lastActiveAt: now, expiresAfterMinutes, memoryTier, image, limits },
    ...(isSnapshot && { savedFrom: source.id }),
    ...(network !== undefined && { network }),
    ...(networkBytes !== undefined && { networkBytes }),
    ...(skills !== undefined && {
      skills: skills.map((skill) => ({ ...skill, objectKey: newObjectKey(tenant, 'skills', id) })),
    }),
    ...(lostCommands !== undefined && { lostCommands }),
    ...(lostFiles.length > 0 && { lostFiles }),
    queue: [],
    sandboxId: sandbox?.id ?? null,
    generation: sandbox === null ? 0 : 1,
    filesVersion: 1,
    syncedFilesVersion: sandbox === null ? 0 : 1,
    stateLost,
    snapshot: snapshot === null ? null : copyOf(snapshot, { objectKey: newObjectKey(tenant, 'snapshots', id), sandbox }),
    hibernating: null,
    deletedAt: now,
    publishBefore,
    dueAt: publishBefore,
  }
}

const copyOf = (
  { bytes, takenAt }: Snapshot,
  { objectKey, sandbox }: { readonly objectKey: string; readonly sandbox: Sandbox | null },
): Snapshot => ({
  ...{ objectKey, bytes, takenAt, tries: 0, isRestored: false, isCopy: true },
  ...(sandbox !== null && { suspendedIn: sandbox.id }),
})

/** Throws ServiceError `conflict` when it does not exist any more: the source has changed. */
async function copyObject(
  { objects }: Pick<CopyPorts, 'objects'>,
  from: string,
  { objectKey, contentType = 'application/octet-stream' }: { readonly objectKey: string; readonly contentType?: string },
): Promise<void> {
  const object = await objects.get(from)
  if (object === null) throw new ServiceError('conflict', 'What the container stores changed while it was copied. Try again.')
  await objects.put(objectKey, object.body, { contentType, bytes: object.bytes })
}

/** Makes a complete copy visible. Null when it took too long: the reconciler may have begun to remove it. */
export async function publishCopy({ table, clock }: CopyPorts, copy: Container): Promise<Container | null> {
  if (copy.publishBefore === undefined || clock.now() > copy.publishBefore - MARGIN_MS) return null
  // A snapshot stays until it is deleted.
  return table.containers.publish(copy, copy.savedFrom === undefined ? firstRetentionCheck(clock.now()) : null)
}

/** Removes a copy that was not published; what it cannot remove, the reconciler does. */
export async function discardCopy({ table, objects, clock }: CopyPorts, { tenant, id }: Pick<Container, 'tenant' | 'id'>): Promise<void> {
  const row = await table.containers.get(tenant, id)
  if (row?.publishBefore === undefined) return
  for (const file of await table.files.all(tenant, id)) await table.files.remove(tenant, id, file.id)
  await removeSecrets(table, { tenant, owner: id })
  await objects.deletePrefix(objectPrefix(tenant, id))
  // A sandbox with its processes is stopped by the reconciler, which then removes the row.
  if (isSuspended(row)) await table.containers.postpone(tenant, id, clock.now())
  else await table.containers.remove(tenant, id)
}
