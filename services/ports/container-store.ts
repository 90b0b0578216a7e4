import type { Container, Hibernation, Snapshot } from '../model/containers/container.ts'
import type { Extension } from '../model/containers/extension.ts'
import type { Lost } from '../model/executions/execution.ts'
import type { NetworkPolicy } from '../model/network/policy.ts'
import type { Page, PageRequest } from '../model/page.ts'
import type { ContainerSkill } from '../model/skills/skill.ts'

export interface ContainerStore {
  /** One with `deletedAt` is not listed. */
  create(container: Container): Promise<void>
  /** Makes a complete copy visible, unless it was published or deleted before; null when there is none. `dueAt`: its first check; null for none. */
  publish(container: Pick<Container, 'tenant' | 'id' | 'createdAt' | 'savedFrom'>, dueAt: number | null): Promise<Container | null>
  /** Deleted containers are returned too, with `deletedAt`. */
  get(tenant: string, id: string): Promise<Container | null>
  /** Without deleted ones. `isSnapshot`: the named snapshots instead. */
  list(tenant: string, page: PageRequest & { readonly name: string | null; readonly isSnapshot?: boolean }): Promise<Page<Container>>
  /**
   * Appends to the queue unless the id is in it, and sets `lastActiveAt` to now and `dueAt`.
   * `missing` includes deleted containers; `full` means LIMITS.maxQueuedPerContainer queued executions.
   */
  enqueue(
    tenant: string,
    id: string,
    entry: { readonly executionId: string; readonly now: number; readonly dueAt: number },
  ): Promise<Container | 'missing' | 'full'>
  /**
   * Adds a command to the container's foreground or background commands unless it is one of them, and sets `lastActiveAt` to now.
   * `full` means LIMITS.maxCommandsPerContainer commands.
   */
  addCommand(
    tenant: string,
    id: string,
    command: { readonly commandId: string; readonly isBackground: boolean; readonly now: number },
  ): Promise<Container | 'missing' | 'full'>
  /** Removes an ended command; one in the foreground sets `lastActiveAt` to now. Returns the row afterwards; null when missing. Idempotent. */
  removeCommand(tenant: string, id: string, command: { readonly commandId: string; readonly now: number }): Promise<Container | null>
  /** Records commands that end with the sandbox, for the next execution's `lost`. */
  noteLostCommands(tenant: string, id: string, lost: readonly Lost[]): Promise<void>
  /**
   * Changes what a wire keeps with the container, and returns the row; null when it is missing or deleted. `change` receives the present value. It is
   * called again when another writer came first. Undefined leaves the row as it is.
   */
  updateExtension(
    of: { readonly tenant: string; readonly id: string; readonly wire: string },
    change: (extension: Extension | undefined) => Extension | undefined,
  ): Promise<Container | null>
  /** Replaces what the container may reach; null when it is missing or deleted. */
  setNetwork(tenant: string, id: string, policy: NetworkPolicy): Promise<Container | null>
  /** Adds bytes that its code has sent and received, and returns their number since its creation. */
  addNetworkBytes(tenant: string, id: string, bytes: number): Promise<number>
  /**
   * Replaces the container's skills and increments `filesVersion` if that is still `filesVersion` in the row; null when it changed, or the container is missing
   * or deleted.
   */
  setSkills(
    tenant: string,
    id: string,
    change: { readonly filesVersion: number; readonly skills: readonly ContainerSkill[] },
  ): Promise<Container | null>
  /** Removes the head if it is this execution and sets `lastActiveAt` and, unless null, `dueAt`; null when the head is another one. */
  dequeue(
    tenant: string,
    id: string,
    entry: { readonly executionId: string; readonly now: number; readonly dueAt: number | null },
  ): Promise<Container | null>
  /**
   * Sets the container's sandbox (or none) if `generation` matches the row and the container is not deleted. A sandbox increments the
   * generation. It sets `syncedFilesVersion` to 0 for the first sandbox. Later ones get -1, so that every file of the container is copied into them.
   * `whileUnused`: only if no execution runs or is queued. `whileHibernated`: only if no kernel has received its snapshot.
   */
  setSandbox(
    tenant: string,
    id: string,
    change: {
      readonly generation: number
      readonly sandboxId: string | null
      readonly stateLost: string | null
      readonly dueAt: number | null
      readonly whileUnused?: boolean
      readonly whileHibernated?: boolean
    },
  ): Promise<Container | null>
  /**
   * Claims the container for hibernation until `claim.expiresAt` if it has a sandbox of this generation, this `lastActiveAt`, an empty queue, no
   * command and no unexpired claim, and is not deleted. Sets `dueAt` to the claim's end. Null otherwise. `keepsCommands`: its commands may run, because they are
   * suspended with it.
   */
  claimHibernation(
    tenant: string,
    id: string,
    given: {
      readonly idle: { readonly generation: number; readonly lastActiveAt: number }
      readonly claim: Hibernation
      readonly now: number
      readonly keepsCommands?: boolean
    },
  ): Promise<Container | null>
  /** Extends the claim with this key; null when the row has another claim or the container is deleted. */
  renewHibernation(tenant: string, id: string, claim: Pick<Hibernation, 'objectKey' | 'expiresAt'>): Promise<Container | null>
  /** Removes the sandbox, unless the snapshot is `suspendedIn` it or `copiedAt` while it runs, and ends the claim with this key; null when the claim is gone, an execution is queued, a command runs, or the container is deleted. `commandsSince`: commands may run, unless it was used after that time. */
  hibernate(
    tenant: string,
    id: string,
    change: {
      readonly objectKey: string
      readonly snapshot: Snapshot | null
      readonly stateLost: string | null
      readonly lostFiles: readonly Lost[]
      readonly dueAt: number
      readonly commandsSince?: number
    },
  ): Promise<Container | null>
  /** Ends the claim with this key and changes nothing else; null when the row has another claim. */
  endHibernation(tenant: string, id: string, objectKey: string): Promise<Container | null>
  /** Counts the sandbox of `generation` among those that tried to restore this snapshot, once; null for another generation or a restored snapshot. */
  beginRestore(tenant: string, id: string, restore: { readonly generation: number; readonly objectKey: string }): Promise<Container | null>
  /**
   * Marks this snapshot as restored in the sandbox of `generation`; null for another generation. Idempotent. `isResumed`: the sandbox has its processes and
   * files, so `lostFiles` is cleared.
   */
  endRestore(
    tenant: string,
    id: string,
    restore: { readonly generation: number; readonly objectKey: string; readonly isResumed?: boolean },
  ): Promise<Container | null>
  /** Increments `filesVersion` and sets `lastActiveAt`; null when missing or deleted. */
  filesChanged(tenant: string, id: string, now: number): Promise<Container | null>
  /** Sets `lastActiveAt`, so that it stays awake; nothing when missing or deleted. */
  touch(tenant: string, id: string, now: number): Promise<void>
  /** Records that the sandbox of `generation` has received `version`. */
  filesSynced(tenant: string, id: string, synced: { readonly generation: number; readonly version: number }): Promise<void>
  /** Clears `stateLost` and `lostCommands` after an execution in this sandbox reported it; a later loss is kept. */
  markStateLossReported(tenant: string, id: string, sandboxId: string): Promise<void>
  /** Clears `lostFiles` after work in this sandbox reported them; a later loss is kept. */
  markFileLossReported(tenant: string, id: string, sandboxId: string): Promise<void>
  postpone(tenant: string, id: string, dueAt: number | null): Promise<void>
  /** Marks the container as deleted and due; later calls answer as for a missing one. Idempotent; null when missing. */
  markDeleted(tenant: string, id: string, now: number): Promise<Container | null>
  remove(tenant: string, id: string): Promise<void>
}
