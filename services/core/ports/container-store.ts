import type { Container, Hibernation, Snapshot } from '../containers/container.ts'
import type { Page, PageRequest } from './page.ts'

export interface ContainerStore {
  create(container: Container): Promise<void>
  /** Deleted containers are returned too, with `deletedAt`. */
  get(tenant: string, id: string): Promise<Container | null>
  /** Without deleted ones. */
  list(tenant: string, page: PageRequest & { readonly name: string | null }): Promise<Page<Container>>
  /**
   * Appends to the queue unless it is in it already, sets `lastActiveAt` to now and `dueAt` to `dueAt`.
   * `missing` covers deleted ones; `full` when LIMITS.maxQueuedPerContainer are waiting.
   */
  enqueue(tenant: string, id: string, executionId: string, now: number, dueAt: number): Promise<Container | 'missing' | 'full'>
  /** Removes the head if it is this execution and sets `lastActiveAt` and, unless null, `dueAt`; null when another one is at the head. */
  dequeue(tenant: string, id: string, executionId: string, now: number, dueAt: number | null): Promise<Container | null>
  /**
   * Gives the container its next sandbox (or none), if `generation` is still the row's and it is not deleted. A sandbox adds one to the
   * generation and sets `syncedFilesVersion` to 0 for the first one, to -1 for any later one: those need every file of the container.
   * `whileUnused`: only if no execution runs or waits in it. `whileAsleep`: only if no kernel has had its snapshot.
   */
  setSandbox(
    tenant: string,
    id: string,
    generation: number,
    change: { readonly sandboxId: string | null; readonly stateLost: string | null; readonly dueAt: number | null },
    options?: { readonly whileUnused?: boolean; readonly whileAsleep?: boolean },
  ): Promise<Container | null>
  /**
   * Claims the container for hibernation until `claim.expiresAt`: if it has a sandbox, of this generation, was last active then, has an empty
   * queue, is not deleted, and no unexpired claim is on it. Sets `dueAt` to the claim's end. Null otherwise.
   */
  claimHibernation(
    tenant: string,
    id: string,
    idle: { readonly generation: number; readonly lastActiveAt: number },
    claim: Hibernation,
    now: number,
  ): Promise<Container | null>
  /** Moves the end of the claim with this key; null when it is not on the row any more or the container is deleted. */
  renewHibernation(tenant: string, id: string, objectKey: string, expiresAt: number): Promise<Container | null>
  /** Takes the sandbox away and ends the claim with this key; null when it has gone, an execution waits, or the container is deleted. */
  hibernate(
    tenant: string,
    id: string,
    objectKey: string,
    change: { readonly snapshot: Snapshot | null; readonly stateLost: string | null; readonly dueAt: number },
  ): Promise<Container | null>
  /** Ends the claim with this key and changes nothing else; null when it is not on the row any more. */
  endHibernation(tenant: string, id: string, objectKey: string): Promise<Container | null>
  /** Counts a try to restore this snapshot in the sandbox of `generation`; null when the container moved on or it was restored before. */
  beginWake(tenant: string, id: string, generation: number, objectKey: string): Promise<Container | null>
  /** Marks this snapshot as restored in the sandbox of `generation`; null when the container moved on. Idempotent. */
  endWake(tenant: string, id: string, generation: number, objectKey: string): Promise<Container | null>
  /** Adds one to `filesVersion` and sets `lastActiveAt`; null when missing or deleted. */
  filesChanged(tenant: string, id: string, now: number): Promise<Container | null>
  /** Notes that the sandbox of `generation` has seen `version`. */
  filesSynced(tenant: string, id: string, generation: number, version: number): Promise<void>
  /** Clears `stateLost` once it has been said by code that ran in this sandbox; a loss that came after it stays to be told. */
  stateLossTold(tenant: string, id: string, sandboxId: string): Promise<void>
  postpone(tenant: string, id: string, dueAt: number | null): Promise<void>
  /** Marks it deleted and due; from then on it answers as missing everywhere. Idempotent; null when missing. */
  markDeleted(tenant: string, id: string, now: number): Promise<Container | null>
  remove(tenant: string, id: string): Promise<void>
}
