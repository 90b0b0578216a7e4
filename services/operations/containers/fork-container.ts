import { setTimeout as delay } from 'node:timers/promises'
import { isSuspended, jobsIn, type Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { containerMissing } from '../access.ts'
import { newSandbox } from '../sandboxes/new-sandbox.ts'
import { requestResume } from '../sandboxes/request-resume.ts'
import { checkContainers, checkStorage } from '../tenancy/meter-storage.ts'
import type { ResourceCounts } from '../tenancy/resource-counts.ts'
import { contentsOf, discardCopy, makeCopy, publishCopy, type Contents, type CopyPorts, type NewCopy } from './copy-container.ts'
import { releaseSandbox, type ReleasePorts } from './release-sandbox.ts'

/** Saving a large kernel takes the longest. */
const SAVE_TIMEOUT_MS = 55_000
/** Copies of a checkpoint; what takes longer is completed by the reconciler. */
const CHECKPOINT_TIMEOUT_MS = 20_000
const POLL_MS = 10

interface ForkPorts extends CopyPorts, ReleasePorts {
  readonly table: CopyPorts['table']
  readonly counts: ResourceCounts
}

/** A wanted copy. */
export type ForkId = Pick<NewCopy, 'id' | 'name' | 'isSnapshot'>

/**
 * Copies a container that is not in use: its files and variables, and its processes where the platform keeps them. Calls with the same ids make each copy
 * once. Every copy that any call sees is complete. The source continues. Throws ServiceError `conflict` while the source is in use, `storage_exhausted` and
 * `container_not_found`.
 */
export async function forkContainer(
  ports: ForkPorts,
  source: Container,
  { wanted, signal }: { readonly wanted: readonly ForkId[]; readonly signal: AbortSignal },
): Promise<readonly Container[]> {
  const { tenant } = source
  const missing = await missingCopies(ports, source, wanted)
  if (missing.length > 0) {
    if (isUsed(source)) throw inUse(source)
    await checkContainers(ports.counts, tenant, missing.length)
    const wasRunning = source.sandboxId !== null && !isSuspended(source)
    const saved = await releaseSandbox(ports, source, { timeoutMs: SAVE_TIMEOUT_MS, signal, isForCopy: true })
    if (saved === 'busy') throw inUse(source)
    if (saved === null) throw containerMissing(source.id)
    try {
      await makeCopies(ports, saved, missing)
    } finally {
      if (wasRunning && isSuspended(saved) && saved.sandboxId !== null) await requestResume(ports, tenant, saved.sandboxId)
    }
  }
  const copies = await Promise.all(wanted.map(({ id }) => ports.table.containers.get(tenant, id)))
  return copies.filter((copy) => copy !== null)
}

const isUsed = (container: Container): boolean => jobsIn(container).size > 0

const inUse = ({ id }: Container): ServiceError =>
  new ServiceError(
    'conflict',
    `Container ${id} is in use: an execution or a command has not ended. Wait for it or cancel it, then copy the container.`,
  )

/** Those that no earlier call with these ids has made. */
async function missingCopies({ table }: ForkPorts, { tenant }: Container, wanted: readonly ForkId[]): Promise<readonly ForkId[]> {
  const rows = await Promise.all(wanted.map(({ id }) => table.containers.get(tenant, id)))
  if (rows.some((row) => row?.publishBefore !== undefined))
    throw new ServiceError('conflict', 'An earlier request with this Idempotency-Key has not ended. Try again in five minutes.')
  return wanted.filter((_, index) => rows[index] === null)
}

/** All or none. */
async function makeCopies(ports: ForkPorts, saved: Container, wanted: readonly ForkId[]): Promise<void> {
  const contents = await contentsOf(ports, saved)
  const source = await suspendedSandbox(ports, saved)
  await checkStorage(ports.counts.storageBytes, saved.tenant, (contents.bytes + (source?.checkpoint?.bytes ?? 0)) * wanted.length)
  try {
    const copies = await allOf(wanted.map((copy) => makeCopy(ports, contents, { ...copy, sandbox: sandboxFor(ports, source, copy) })))
    if (source !== null) await copyCheckpoints(ports, copies)
    await demandUnchanged(ports, contents)
    for (const copy of copies)
      if ((await publishCopy(ports, copy)) === null) throw new ServiceError('sandbox_unavailable', 'Copying took too long. Try again.')
  } catch (cause) {
    await Promise.allSettled(wanted.map(({ id }) => discardCopy(ports, { tenant: saved.tenant, id })))
    throw cause
  }
}

/** Waits for every one also if one fails, so that nothing is written after the copies are removed. */
async function allOf<T>(steps: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(steps)
  return Promise.all(steps)
}

/** The sandbox of a suspended container, whose checkpoint is complete. Null: there is none. */
async function suspendedSandbox({ table, clock }: ForkPorts, saved: Container): Promise<Sandbox | null> {
  if (!isSuspended(saved) || saved.sandboxId === null) return null
  for (const deadline = clock.now() + CHECKPOINT_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const sandbox = await table.sandboxes.get(saved.sandboxId)
    if (sandbox?.state === 'suspended') return sandbox
    if (sandbox?.state !== 'suspending' || clock.now() > deadline) return null
  }
}

/** The row of a sandbox that gets a copy of the source's checkpoint, and another key pair. */
function sandboxFor({ clock }: ForkPorts, source: Sandbox | null, { id }: ForkId): Sandbox | null {
  if (source?.claimedBy === null || source?.checkpoint === undefined) return null
  const { memoryTier, limits, image, imageName, protocol, checkpoint, claimedBy } = source
  const made = newSandbox({ memoryTier, limits, image, claimedBy: { tenant: claimedBy.tenant, containerId: id } }, clock.now())
  return { ...made, imageName, protocol, state: 'suspending', checkpoint: { id: checkpoint.id, bytes: 0, takenAt: 0, copyOf: source.id } }
}

/** Waits until every sandbox has its checkpoint, or is gone because that failed: then its container has variables and files, and names the loss. */
async function copyCheckpoints({ table, queue, clock }: ForkPorts, copies: readonly Container[]): Promise<void> {
  const ids = copies.flatMap(({ sandboxId }) => sandboxId ?? [])
  const group = copies[0]?.tenant ?? ''
  for (const sandboxId of ids) await queue.send('placements', { v: 1, type: 'sandbox.suspend', sandboxId }, { group })
  for (const deadline = clock.now() + CHECKPOINT_TIMEOUT_MS; clock.now() < deadline; await delay(POLL_MS)) {
    const rows = await Promise.all(ids.map((id) => table.sandboxes.get(id)))
    if (rows.every((row) => row?.state !== 'suspending')) return
  }
}

/** Throws ServiceError `conflict` if the source was used while it was copied. */
async function demandUnchanged({ table }: ForkPorts, { source }: Contents): Promise<void> {
  const now = await table.containers.get(source.tenant, source.id)
  if (now === null || now.deletedAt !== null) throw new ServiceError('conflict', `${source.id} was deleted while it was copied.`)
  if (isUsed(now) || now.lastActiveAt !== source.lastActiveAt || now.filesVersion !== source.filesVersion) throw inUse(source)
}
