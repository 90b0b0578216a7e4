import type { MemoryTier } from '../limits.ts'
import type { Lost } from '../executions/execution.ts'
import type { ContainerSkill } from '../skills/skill.ts'
import type { ContainerLimits } from '../tenants/tenant-limits.ts'
import type { NetworkPolicy } from '../network/policy.ts'
import type { Extension } from './extension.ts'

/** Variables that were saved when the sandbox was released. The bytes are hostile: only a sandbox of the same container may read them. */
export interface Snapshot {
  readonly objectKey: string
  readonly bytes: number
  readonly takenAt: number
  /** Number of sandboxes that started to restore it. */
  readonly tries: number
  /** The container's generation at the last of these starts; absent before the first. */
  readonly triedBy?: number
  /** The sandbox whose processes have these variables and more: its checkpoint comes before the snapshot, which is for the case that it fails. */
  readonly suspendedIn?: string
  /** A kernel received it. That kernel may be newer from then on, so the snapshot is never restored again. */
  readonly isRestored: boolean
  /** Taken for copies of the container, whose sandbox runs on: it has what the container had at this `lastActiveAt`. */
  readonly copiedAt?: number
  /** What is missing in it and in the files of that time; copies name it. */
  readonly lost?: readonly Lost[]
  /** The variables of another container: random numbers do not continue from its states. */
  readonly isCopy?: boolean
}

/** The claim to save the variables and release the sandbox. Granted only while no execution is queued; no execution starts while it is valid. */
export interface Hibernation {
  /** Key of the snapshot; it also identifies the claim. */
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
  /** After this many idle minutes the container's status is `expired`. Files and variables are kept. */
  readonly expiresAfterMinutes: number
  readonly memoryTier: MemoryTier
  /** Name of its image; null: the tenant's or the server's default when a sandbox starts. */
  readonly image: string | null
  /** Limits that the client requested, below the tenant's. */
  readonly limits: ContainerLimits | null
  /** Ids of executions in the order of acceptance. Only the head may run. */
  readonly queue: readonly string[]
  /** Ids of commands that have not ended: they keep the container awake. Rows of earlier versions lack it. */
  readonly commands?: readonly string[]
  /** Ids of commands in the background that have not ended; hibernation ends them, suspension keeps them. */
  readonly backgroundCommands?: readonly string[]
  /** Commands that ended with their sandbox; the next execution names them in `lost`. */
  readonly lostCommands?: readonly Lost[]
  /** What was in `/mnt/data` when its last sandbox was released and could not be kept; the next execution or command names it in `lost`. */
  readonly lostFiles?: readonly Lost[]
  /** Skills that its sandboxes have. Absent for none; none is ever removed. */
  readonly skills?: readonly ContainerSkill[]
  /** What its code may reach. Absent: nothing. */
  readonly network?: NetworkPolicy
  /** Bytes that its code has sent and received, if its policy bounds them. */
  readonly networkBytes?: number
  /** What wires keep with it, by the name of the wire. */
  readonly extensions?: Readonly<Record<string, Extension>>
  /** The sandbox that holds the container now. */
  readonly sandboxId: string | null
  /** Number of sandboxes that the container has had; 0 before the first. */
  readonly generation: number
  /** Increases with every change to the files from outside the sandbox. */
  readonly filesVersion: number
  /** The `filesVersion` that the current sandbox has received; valid for `generation` only. */
  readonly syncedFilesVersion: number
  /** Why the variables of earlier executions are lost; null when none are. */
  readonly stateLost: string | null
  readonly snapshot: Snapshot | null
  readonly hibernating: Hibernation | null
  /** A deleted container does not exist for any call; the reconciler removes it when it is due. */
  readonly deletedAt: number | null
  /** It is a snapshot that a caller named: a copy of this container, which is listed apart, runs nothing and is itself copied. */
  readonly savedFrom?: string
  /** It is a copy that is not complete: `deletedAt` is set until it is published, at the latest at this time. */
  readonly publishBefore?: number
  readonly dueAt: number | null
}

/** The variables are in the snapshot, and no kernel has received them. */
export const isHibernated = (container: Container): container is Container & { readonly snapshot: Snapshot } =>
  container.snapshot !== null && !container.snapshot.isRestored

/** Its sandbox keeps its processes and may have to be resumed before it gets code. */
export const isSuspended = ({ snapshot, sandboxId }: Container): boolean =>
  sandboxId !== null && snapshot !== null && !snapshot.isRestored && snapshot.suspendedIn === sandboxId

/** The variables and files are stored as they were at its last use, also if its sandbox runs. */
export const isSaved = (container: Container): boolean =>
  container.sandboxId === null || isHibernated(container) || container.snapshot?.copiedAt === container.lastActiveAt

/** Whether the sandbox may miss a change that came from outside, such as an upload. */
export const needsSync = (container: Container): boolean => container.filesVersion !== container.syncedFilesVersion

/** Whether work keeps it awake: an execution in the queue or a command in the foreground. */
export const isBusy = ({ queue, commands = [] }: Container): boolean => queue.length + commands.length > 0

/** Whether it lists this work among what runs beside the queue. */
export const runsBeside = ({ commands = [], backgroundCommands = [] }: Container, id: string): boolean =>
  commands.includes(id) || backgroundCommands.includes(id)

/** Ids of its commands that have not ended. */
export const commandsOf = ({ commands = [], backgroundCommands = [] }: Container): readonly string[] => [...commands, ...backgroundCommands]

/** Ids of the work that has not ended. */
export const jobsIn = (container: Container): ReadonlySet<string> => new Set([...container.queue, ...commandsOf(container)])

/** Ids of the work that may have a step now: the head of its queue, and its commands. */
export const readyJobsIn = (container: Container): ReadonlySet<string> => jobsIn({ ...container, queue: container.queue.slice(0, 1) })

/** Nothing keeps it awake, and the idle time has passed since the last use. */
export const isIdle = (container: Container, now: number): boolean =>
  !isBusy(container) && container.lastActiveAt + container.expiresAfterMinutes * 60_000 <= now

/** The status on OpenAI's wire. `expired` concerns the sandbox only; the next call restores the container. */
export const containerStatus = (container: Container, now: number): 'running' | 'expired' =>
  isIdle(container, now) ? 'expired' : 'running'
