import type { MemoryTier } from '../limits.ts'
import type { SandboxAddress } from '../sandboxes/sandbox.ts'
import type { SandboxLimits } from '../tenants/tenant-limits.ts'

export interface SandboxSpec {
  readonly sandboxId: string
  readonly memoryTier: MemoryTier
  /** Null or absent: what every sandbox of the warm pool has. */
  readonly limits?: SandboxLimits | null
  /** Ed25519 public key, 32 bytes, base64url: the supervisor believes only its holder. */
  readonly publicKey: string
  /** Somebody waits for it; one for the pool may give way to live work while it starts. */
  readonly isAwaited: boolean
}

export type SandboxStatus =
  | { readonly phase: 'starting' }
  /** The supervisor has passed its self-test and waits. */
  | { readonly phase: 'ready'; readonly address: SandboxAddress }
  /** `detail` is the platform's own sentence about it, for the operator. */
  | {
      readonly phase: 'gone'
      readonly reason: 'stopped' | 'refused' | 'oom' | 'lost'
      readonly exitCode: number | null
      readonly detail?: string
    }

/** Starts, watches and stops sandboxes. A driver reports what it sees; the orchestrator decides what that means. */
export interface SandboxDriver {
  readonly name: 'docker' | 'fargate'
  /** The image that `start` uses; part of the sandbox row. */
  readonly image: string
  /** Called twice with one `sandboxId` it starts one sandbox: SQS may deliver a job more than once. Throws DriverError. */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<void>
  inspect(sandboxId: string): Promise<SandboxStatus>
  /** Resolves when the sandbox is ready or gone, or at the signal with what is known then. */
  waitReady(sandboxId: string, signal: AbortSignal): Promise<SandboxStatus>
  /** Resolves once the sandbox is gone. One that no longer exists is not an error. */
  stop(sandboxId: string): Promise<void>
  list(): AsyncIterable<string>
  /** Gives a waiting sandbox the memory of a bigger tier. Absent where memory is fixed at the start. Throws DriverError. */
  resize?(sandboxId: string, memoryTier: MemoryTier): Promise<void>
  /** Resolves when sandboxes can be started; otherwise throws DriverError with what to do. */
  check(): Promise<void>
}

/** Why a start was refused. `capacity` and `throttled` are worth another try; `configuration` needs the operator. */
export class DriverError extends Error {
  readonly kind: 'capacity' | 'throttled' | 'configuration' | 'unavailable'
  constructor(kind: DriverError['kind'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'DriverError'
    this.kind = kind
  }
}
