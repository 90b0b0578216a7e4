import type { MemoryTier } from '../limits.ts'
import type { Lost } from '../executions/execution.ts'
import type { ExecutionLanguage } from '../executions/language.ts'
import type { Scope } from '../tenants/tenant.ts'
import type { ContainerSkill } from '../skills/skill.ts'
import type { ContainerLimits } from '../tenants/tenant-limits.ts'

/** Variables that were saved when the sandbox was released. The bytes are hostile: only a sandbox of the same container may read them. */
export interface Snapshot {
  readonly objectKey: string
  readonly bytes: number
  readonly takenAt: number
  /** Number of sandboxes that started to restore it. */
  readonly tries: number
  /** The container's generation at the last of these starts; absent before the first. */
  readonly triedBy?: number
  /** A kernel received it. That kernel may be newer from then on, so the snapshot is never restored again. */
  readonly isRestored: boolean
}

/** The claim to save the variables and release the sandbox. Granted only while no execution is queued; no execution starts while it is valid. */
export interface Hibernation {
  /** Key of the snapshot; it also identifies the claim. */
  readonly objectKey: string
  readonly expiresAt: number
}

/** A key that created the sandbox or connected to it. Its access token does what the key could do then, while the key is valid. */
export interface E2bGrant {
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** The end user of the key; null for a key that sees the whole tenant. */
  readonly subject: string | null
  /** End of the key or of the JSON Web Token, epoch ms; null for none. */
  readonly expiresAt: number | null
}

/** A container as E2B's clients see it. */
export interface E2bSession {
  /** Random: the access tokens of the data plane are derived from it. Absent in rows of earlier versions until the next connect. */
  readonly rootSecret?: string
  /** One for each key, in the order of their latest connect. */
  readonly grants?: readonly E2bGrant[]
  /** In rows of earlier versions only: the one access token. */
  readonly secret?: string
  /** In rows of earlier versions only: the key that opened the sandbox last. */
  readonly key?: { readonly id: string; readonly scopes: readonly Scope[] }
  /** Name of the template, as the client gave it. */
  readonly template: string
  readonly metadata: Readonly<Record<string, string>>
  /** Environment variables of all code and commands of this wire. */
  readonly env: Readonly<Record<string, string>>
  /** End of the sandbox's time, epoch ms. */
  readonly endAt: number
  /** What happens at `endAt`. The next call of this wire finds it done. */
  readonly onTimeout: 'kill' | 'pause'
  /** Calls of the data plane wake a paused sandbox. Without it only `connect` does. */
  readonly autoResume: boolean
  readonly isPaused: boolean
  /** Contexts that clients created, besides the default one of each language. */
  readonly contexts: readonly { readonly id: string; readonly language: ExecutionLanguage; readonly cwd: string }[]
  /** Watched folders: the command that watches, and the last of its events that the client has. */
  readonly watchers?: readonly { readonly id: string; readonly root: string; readonly seq: number }[]
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
  /** Ids of commands in the background that have not ended; hibernation ends them. */
  readonly backgroundCommands?: readonly string[]
  /** Commands that ended with their sandbox; the next execution names them in `lost`. */
  readonly lostCommands?: readonly Lost[]
  /** Skills that its sandboxes have. Absent for none; none is ever removed. */
  readonly skills?: readonly ContainerSkill[]
  /** Absent for a container that no client of E2B's wire has used. */
  readonly e2b?: E2bSession
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
  readonly deletedAt: number | null
  readonly dueAt: number | null
}

/** The variables are in the snapshot, and no kernel has received them. */
export const isHibernated = (container: Container): container is Container & { readonly snapshot: Snapshot } =>
  container.snapshot !== null && !container.snapshot.isRestored

/** Whether the sandbox may miss a change that came from outside, such as an upload. */
export const needsSync = (container: Container): boolean => container.filesVersion !== container.syncedFilesVersion

/** Whether work keeps it awake: an execution in the queue or a command in the foreground. */
export const isBusy = ({ queue, commands = [] }: Container): boolean => queue.length + commands.length > 0

/** Whether it lists this work among what runs beside the queue. */
export const runsBeside = ({ commands = [], backgroundCommands = [] }: Container, id: string): boolean =>
  commands.includes(id) || backgroundCommands.includes(id)

/** Ids of the work that has not ended. */
export const jobsIn = ({ queue, commands = [], backgroundCommands = [] }: Container): ReadonlySet<string> =>
  new Set([...queue, ...commands, ...backgroundCommands])

/** Nothing keeps it awake, and the idle time has passed since the last use. */
export const isIdle = (container: Container, now: number): boolean =>
  !isBusy(container) && container.lastActiveAt + container.expiresAfterMinutes * 60_000 <= now

/** The status on OpenAI's wire. `expired` concerns the sandbox only; the next call restores the container. */
export const containerStatus = (container: Container, now: number): 'running' | 'expired' =>
  isIdle(container, now) ? 'expired' : 'running'
