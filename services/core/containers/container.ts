import { LIMITS, type MemoryTier } from '../limits.ts'
import type { ContainerLimits } from '../tenants/tenant-limits.ts'

/** Variables saved when the sandbox was let go. Its bytes are hostile: only a sandbox of the same container may read them. */
export interface Snapshot {
  readonly objectKey: string
  readonly bytes: number
  readonly takenAt: number
  /** How often a sandbox began to restore it. */
  readonly tries: number
  /** A kernel has had it: from then on that kernel may be newer, so it is never restored again. */
  readonly isRestored: boolean
}

/** The right to save the variables and to let the sandbox go. Given only while no execution waits; while it lasts none begins. */
export interface Hibernation {
  /** Where the variables go; names the claim too. */
  readonly objectKey: string
  readonly expiresAt: number
}

/** The user's stateful notebook session: a kernel namespace and `/mnt/data`. Times are epoch ms. */
export interface Container {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly name: string
  readonly createdAt: number
  readonly lastActiveAt: number
  /** After this many idle minutes the container calls itself `expired`: a word only, files and variables are kept. */
  readonly expiresAfterMinutes: number
  readonly memoryTier: MemoryTier
  /** What it asked for below its tenant's limits. */
  readonly limits: ContainerLimits | null
  /** Executions in the order in which they were accepted. Only the first may run: it holds the head of the container. */
  readonly queue: readonly string[]
  /** The compute that holds it now. */
  readonly sandboxId: string | null
  /** Grows with every sandbox that is given to it: 0 before the first. */
  readonly generation: number
  /** Grows with every change to its files from outside the sandbox … */
  readonly filesVersion: number
  /** … and what the present sandbox has been told of, valid for `generation` only. */
  readonly syncedFilesVersion: number
  /** Why the next execution finds no variables of earlier ones; null when nothing was lost. */
  readonly stateLost: string | null
  readonly snapshot: Snapshot | null
  readonly hibernating: Hibernation | null
  readonly deletedAt: number | null
  readonly dueAt: number | null
}

/** Files and history of a container outlive its last use by this, milliseconds. */
export const CONTAINER_KEPT_MS = LIMITS.retentionDays * 86_400_000

/** The variables lie in the snapshot, and no kernel has had them since. */
export const isAsleep = (container: Container): container is Container & { readonly snapshot: Snapshot } =>
  container.snapshot !== null && !container.snapshot.isRestored

/** Nothing runs or waits, and nobody used it for the agreed time. */
export const isIdle = (container: Container, now: number): boolean =>
  container.queue.length === 0 && container.lastActiveAt + container.expiresAfterMinutes * 60_000 <= now

/** OpenAI's words for a container: `expired` is a hint about its sandbox only; naming it wakes it. */
export const containerStatus = (container: Container, now: number): 'running' | 'expired' =>
  isIdle(container, now) ? 'expired' : 'running'
