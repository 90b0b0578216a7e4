import type { MemoryTier } from '../limits.ts'
import type { SandboxLimits } from '../tenants/tenant-limits.ts'

/** The major version of `runtime-image/PROTOCOL.md` that this code's sandboxes implement. */
export const SUPERVISOR_PROTOCOL = 1
/**
 * Whether this code can use a sandbox of that major version: the current and the previous one. A cell that runs during a deployment can
 * therefore finish in its sandbox. A sandbox of another major version is never claimed.
 */
export const isSpokenProtocol = (major: number): boolean => major === SUPERVISOR_PROTOCOL || major === SUPERVISOR_PROTOCOL - 1

/** How to reach a supervisor. The driver creates it, and the link of the same kind uses it. */
export type SandboxAddress =
  | { readonly kind: 'unix'; readonly socketPath: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'exec'; readonly containerName: string }

export const SANDBOX_STATES = ['starting', 'ready', 'claimed', 'suspending', 'suspended', 'stopping', 'gone'] as const
export type SandboxPhase = (typeof SANDBOX_STATES)[number]

/** The compute of one container. It is claimed at most once and never returned to the pool. */
export interface Sandbox {
  readonly v: 1
  readonly id: string
  readonly state: SandboxPhase
  readonly memoryTier: MemoryTier
  /** Null: the limits of every sandbox in the warm pool. */
  readonly limits: SandboxLimits | null
  /** Supervisor protocol of its image; another major is drained, never claimed. */
  readonly protocol: number
  /** The reference that was started. */
  readonly image: string
  /** The image's name; null in rows of versions that had one image. */
  readonly imageName: string | null
  readonly address: SandboxAddress | null
  /** Ed25519, base64url: PKCS#8 DER and the raw 32 bytes. */
  readonly privateKey: string
  readonly publicKey: string
  readonly claimedBy: { readonly tenant: string; readonly containerId: string } | null
  readonly createdAt: number
  readonly readyAt: number | null
  /** When its supervisor first answered; set only if the driver cannot probe the supervisor itself. */
  readonly answeredAt: number | null
  readonly claimedAt: number | null
  /** The platform's name for it, such as a task's ARN; known once the platform accepted the start. */
  readonly platformId?: string
  /** When the platform accepted the start; only if it reports by event that the sandbox runs. */
  readonly launchedAt?: number
  /** For state `gone`: the interval of the platform's attempts to start it (epoch ms). */
  readonly failedStart?: FailedStart
  /**
   * Where its processes are, from `suspending` on. A start of a sandbox that has one resumes it. `bytes` and `takenAt`: 0 until it is written. `copyOf`: the
   * sandbox from whose checkpoint it is copied.
   */
  readonly checkpoint?: { readonly id: string; readonly bytes: number; readonly takenAt: number; readonly copyOf?: string }
  /** When its resumption was last requested. */
  readonly resumedAt?: number
  readonly dueAt: number | null
}

export interface FailedStart {
  readonly from: number
  readonly to: number
  /** The isolation check for which its supervisor refused to serve; `unknown` for one without a name. Absent: another reason. */
  readonly check?: string
}

/** It has processes that do not run now: they are written to a checkpoint, wait in one, or continue from one. */
export const isPausedState = ({ state, checkpoint }: Sandbox): boolean =>
  state === 'suspending' || state === 'suspended' || (state === 'starting' && checkpoint !== undefined)

/** What a client needs to reach a supervisor and to sign requests for it. */
export interface SandboxSession {
  readonly sandboxId: string
  readonly address: SandboxAddress
  readonly privateKey: string
}
