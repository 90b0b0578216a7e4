import type { MemoryTier } from '../limits.ts'
import type { SandboxLimits } from '../tenants/tenant-limits.ts'

/** The major version of `runtime-image/PROTOCOL.md` that sandboxes of this code have. */
export const SUPERVISOR_PROTOCOL = 1
/**
 * Whether this code can talk to a sandbox of that major: its own and the one before it. So a cell that runs while a new major is deployed is
 * read on to its end, in the sandbox that it runs in; nothing of another major is ever claimed.
 */
export const isSpokenProtocol = (major: number): boolean => major === SUPERVISOR_PROTOCOL || major === SUPERVISOR_PROTOCOL - 1

/** How to reach a supervisor; made by the driver, used by the link of the same name. */
export type SandboxAddress =
  | { readonly kind: 'unix'; readonly socketPath: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'exec'; readonly containerName: string }

export const SANDBOX_STATES = ['starting', 'ready', 'claimed', 'stopping', 'gone'] as const
export type SandboxPhase = (typeof SANDBOX_STATES)[number]

/** The compute that holds a container right now. Starts unclaimed, is claimed once, is never handed back. */
export interface Sandbox {
  readonly v: 1
  readonly id: string
  readonly state: SandboxPhase
  readonly memoryTier: MemoryTier
  /** Null: what every sandbox of the warm pool has. */
  readonly limits: SandboxLimits | null
  /** Supervisor protocol of its image; another major is drained, never claimed. */
  readonly protocol: number
  readonly image: string
  readonly address: SandboxAddress | null
  /** Ed25519, base64url: PKCS#8 DER and the raw 32 bytes. */
  readonly privateKey: string
  readonly publicKey: string
  readonly claimedBy: { readonly tenant: string; readonly containerId: string } | null
  readonly createdAt: number
  readonly readyAt: number | null
  /** When its supervisor was first seen to answer; only sandboxes that their driver cannot ask itself have it. */
  readonly answeredAt: number | null
  readonly claimedAt: number | null
  /** Of one that is `gone`: from when to when the platform was asked for it (epoch ms). */
  readonly failedStart?: FailedStart
  readonly dueAt: number | null
}

export interface FailedStart {
  readonly from: number
  readonly to: number
}

/** What a client of the supervisor needs to reach it and to be believed. */
export interface SandboxSession {
  readonly sandboxId: string
  readonly address: SandboxAddress
  readonly privateKey: string
}
