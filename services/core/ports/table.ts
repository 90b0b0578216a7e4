import type { Container, Hibernation, Snapshot } from '../containers/container.ts'
import type { AnyEvent, EventBatch, EventOwner } from '../events.ts'
import type { Execution } from '../executions/execution.ts'
import type { ContainerFile } from '../files/file.ts'
import type { LeasedRow } from '../lease.ts'
import type { Link } from '../links/link.ts'
import type { MemoryTier } from '../limits.ts'
import type { Response } from '../responses/response.ts'
import type { Sandbox, SandboxPhase } from '../sandboxes/sandbox.ts'
import type { ApiKey, Tenant, TenantPolicy } from '../tenants/tenant.ts'
import type { Upload, UploadPart } from '../files/upload.ts'
import type { UsageRecord } from '../usage/usage.ts'
import type { UserFile } from '../files/user-file.ts'
import type { ConversationStore } from './conversation-store.ts'

/** A page of a list, ordered by time of creation. `after` is an id; an unknown one gives an empty page. */
export interface PageRequest {
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}

/** The answer to a step that wants a row for itself. */
export type Taken<Row> =
  | { readonly kind: 'taken'; readonly row: Row }
  /** Somebody else holds an unexpired lease. */
  | { readonly kind: 'busy'; readonly row: Row }
  /** It is free, but it is not what was seen any more: whoever wants it reads it again. */
  | { readonly kind: 'moved'; readonly row: Row }
  /** The status is terminal. */
  | { readonly kind: 'ended'; readonly row: Row }
  | { readonly kind: 'missing' }

/** Fields that a step may set. Identity, lease and fence have verbs of their own. */
export type Patch<Row extends LeasedRow> = Partial<Omit<Row, 'v' | 'tenant' | 'id' | 'lease' | 'fence' | 'createdAt'>>

/** Fields as they were read. A holder changes its row without a new fence, so the fence alone does not tell whether it did. */
export interface Seen {
  readonly fence?: number
  /** Of an execution. */
  readonly sandboxId?: string | null
}

/** Rows that workers advance under a lease. Every verb is one conditional write; reads are consistent. */
export interface LeasedStore<Row extends LeasedRow> {
  /** False when the id exists already; nothing is changed then. */
  create(row: Row): Promise<boolean>
  get(tenant: string, id: string): Promise<Row | null>
  /**
   * Takes the lease if the row has not ended and its lease is free or expired at `now`, adds one to the fence, applies `patch`, sets `dueAt`
   * to the lease's end, and returns the new row. `owner` names one step and no other (one process may get a message twice): the same owner
   * with the same end is the same call, sent again because its answer got lost. `seen`: only a row that still has these values, `moved` otherwise.
   */
  take(
    tenant: string,
    id: string,
    lease: { owner: string; now: number; expiresAt: number; seen?: Seen },
    patch?: Patch<Row>,
  ): Promise<Taken<Row>>
  /**
   * Writes under the fencing number; null when it is not the row's any more or the row has ended. `release` gives the lease back.
   * `extendTo` moves the lease's end and `dueAt` there. A patch to a terminal status gives the lease back and clears `dueAt` by itself,
   * or sets it to `removeAt`, when the reconciler shall remove the ended row (epoch ms).
   */
  commit(
    tenant: string,
    id: string,
    fence: number,
    patch: Patch<Row>,
    options?: { release?: boolean; extendTo?: number; dueAt?: number; removeAt?: number },
  ): Promise<Row | null>
  /** Marks the wish to cancel on a row that has not ended; returns the row as it is afterwards, null when there is none. */
  requestCancel(tenant: string, id: string, now: number): Promise<Row | null>
  /** Moves `dueAt` of a row that has not ended, so that the reconciler looks again later. Not fenced. */
  postpone(tenant: string, id: string, dueAt: number): Promise<void>
  remove(tenant: string, id: string): Promise<void>
}

export interface ExecutionStore extends LeasedStore<Execution> {
  listByContainer(tenant: string, containerId: string, page: PageRequest): Promise<Page<Execution>>
}

export interface ResponseStore extends LeasedStore<Response> {}

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

export interface FileStore {
  put(file: ContainerFile): Promise<void>
  get(tenant: string, containerId: string, id: string): Promise<ContainerFile | null>
  /** By its id alone, whichever container it is in: an id may be named when another container wants a copy. May lag behind. */
  find(tenant: string, id: string): Promise<ContainerFile | null>
  /** All rows of a container, superseded and deleted ones included, oldest first. Consistent. */
  all(tenant: string, containerId: string): Promise<readonly ContainerFile[]>
  patch(
    tenant: string,
    containerId: string,
    id: string,
    change: Partial<Pick<ContainerFile, 'isCurrent' | 'endedAt' | 'state' | 'sandboxGeneration' | 'bytes' | 'sha256' | 'createdAt'>>,
  ): Promise<ContainerFile | null>
  remove(tenant: string, containerId: string, id: string): Promise<void>
}

/** Files outside containers. A row is given back also after `expiresAt`: its reader compares the time. */
export interface UserFileStore {
  /** False when the id exists already; nothing is changed then. */
  create(file: UserFile): Promise<boolean>
  get(tenant: string, id: string): Promise<UserFile | null>
  list(tenant: string, page: PageRequest): Promise<Page<UserFile>>
  remove(tenant: string, id: string): Promise<void>
}

export interface UploadStore {
  create(upload: Upload): Promise<void>
  get(tenant: string, id: string): Promise<Upload | null>
  addPart(part: UploadPart): Promise<void>
  /** All parts, oldest first. Consistent. */
  parts(tenant: string, uploadId: string): Promise<readonly UploadPart[]>
  /** One conditional write: `pending` becomes this status. Null when it was not pending any more. */
  end(tenant: string, id: string, status: 'completed' | 'cancelled'): Promise<Upload | null>
  /** Takes the rows of its parts away, then its own. */
  remove(tenant: string, id: string): Promise<void>
}

export interface SandboxStore {
  create(sandbox: Sandbox): Promise<boolean>
  get(id: string): Promise<Sandbox | null>
  /** One conditional write: `ready` becomes `claimed`. Null when somebody was faster. */
  claim(id: string, by: { tenant: string; containerId: string }, now: number, dueAt: number): Promise<Sandbox | null>
  /** One conditional write: an unclaimed one that is still `starting` will be `claimed` instead of `ready`. Null when somebody was faster. */
  reserve(id: string, by: { tenant: string; containerId: string }, now: number): Promise<Sandbox | null>
  /** Applies the change if the state is one of `from` and, with `unclaimed`, if nobody claimed or reserved it. */
  move(
    id: string,
    from: readonly SandboxPhase[],
    change: Partial<
      Pick<
        Sandbox,
        'state' | 'address' | 'readyAt' | 'answeredAt' | 'image' | 'protocol' | 'claimedBy' | 'claimedAt' | 'failedStart' | 'dueAt'
      >
    >,
    options?: { readonly unclaimed?: boolean },
  ): Promise<Sandbox | null>
  /** Unclaimed and ready ones of a tier, oldest first. May lag behind; the claim decides. */
  ready(tier: MemoryTier, limit: number): Promise<readonly Sandbox[]>
  /** Every sandbox that is not gone. */
  all(): Promise<readonly Sandbox[]>
  remove(id: string): Promise<void>
}

export interface EventStore {
  /** False when another batch with this first number exists already: another worker wrote it. */
  append(owner: EventOwner, batch: EventBatch): Promise<boolean>
  /** Events with numbers above `after`, in order, whole batches as far as `limit` events go. Consistent. */
  read<E extends AnyEvent>(owner: EventOwner, after: number, limit: number): Promise<readonly E[]>
  /** The batch written last. */
  last(owner: EventOwner): Promise<EventBatch | null>
  removeAll(owner: EventOwner): Promise<void>
}

export interface TenantStore {
  create(tenant: Tenant): Promise<void>
  get(id: string): Promise<Tenant | null>
  list(): Promise<readonly Tenant[]>
  /** Replaces the whole policy; null when there is no such tenant. */
  setPolicy(id: string, policy: TenantPolicy): Promise<Tenant | null>
  putKey(key: ApiKey): Promise<void>
  /** By the SHA-256 (hex) of the presented key; revoked ones are returned too. */
  findKey(hash: string): Promise<ApiKey | null>
  /** Every key of every tenant, oldest first, revoked ones too. May lag behind. */
  listKeys(): Promise<readonly ApiKey[]>
  /** Ends a key for good; a second call keeps the first time. Null when no key has this id. */
  revokeKey(id: string, now: number): Promise<ApiKey | null>
}

export interface IdempotencyRecord {
  readonly bodyHash: string
  readonly resultId: string
  readonly expiresAt: number
}
export interface IdempotencyStore {
  /** Stores the record unless an unexpired one exists; returns the one that counts and whether it is the caller's. */
  claim(
    tenant: string,
    scope: string,
    key: string,
    record: IdempotencyRecord,
    now: number,
  ): Promise<{ readonly record: IdempotencyRecord; readonly isNew: boolean }>
}

export interface LinkStore {
  put(link: Link): Promise<void>
  findByToken(tokenHash: string): Promise<Link | null>
  get(tenant: string, id: string): Promise<Link | null>
  /** Every link that was ever made to this file version, revoked ones too, oldest first. May lag behind. */
  ofFile(tenant: string, fileId: string): Promise<readonly Link[]>
  revoke(tenant: string, id: string, now: number): Promise<Link | null>
}

export interface UsageStore {
  /** Under the execution's id: a second time replaces the first. */
  put(record: UsageRecord): Promise<void>
  /** Every record of a day, `YYYY-MM-DD`. Consistent. */
  ofDay(tenant: string, day: string): Promise<readonly UsageRecord[]>
}

export type DueRow = {
  readonly kind: 'container' | 'execution' | 'response' | 'sandbox' | 'file' | 'upload' | 'conversation'
  readonly tenant: string
  readonly id: string
  readonly dueAt: number
}

/** All durable state. Implementations: DynamoDB (one table). */
export interface Table {
  readonly containers: ContainerStore
  readonly executions: ExecutionStore
  readonly responses: ResponseStore
  readonly files: FileStore
  readonly userFiles: UserFileStore
  readonly uploads: UploadStore
  readonly conversations: ConversationStore
  readonly sandboxes: SandboxStore
  readonly events: EventStore
  readonly tenants: TenantStore
  readonly idempotency: IdempotencyStore
  readonly links: LinkStore
  readonly usage: UsageStore
  /** Rows whose `dueAt` is not after `now` and not before `since` (0), over all shards, soonest first. May lag behind. */
  due(now: number, limit: number, since?: number): Promise<readonly DueRow[]>
  /** Puts a due row off; one that was moved since it was found stays as it is. */
  putOff(row: DueRow, dueAt: number): Promise<void>
  /** Resolves when the table answers; rejects with the reason otherwise. */
  check(): Promise<void>
}
