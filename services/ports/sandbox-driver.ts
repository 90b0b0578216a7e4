import type { ImageCatalogue } from '../model/containers/images.ts'
import type { MemoryTier } from '../model/limits.ts'
import type { Sandbox, SandboxAddress, SandboxSession } from '../model/sandboxes/sandbox.ts'
import type { SandboxLimits } from '../model/tenants/tenant-limits.ts'

export interface SandboxSpec {
  readonly sandboxId: string
  readonly memoryTier: MemoryTier
  /** Null or absent: the limits of every sandbox in the warm pool. */
  readonly limits?: SandboxLimits | null
  /** Name of the image in the driver's catalogue; null or absent: the default. */
  readonly imageName?: string | null
  /** Ed25519 public key, 32 bytes, base64url: the supervisor accepts only requests that its private key signed. */
  readonly publicKey: string
  /** Whether an execution waits for it; a start for the pool may have lower priority than live work. */
  readonly isAwaited: boolean
}

export type SandboxStatus =
  | { readonly phase: 'starting' }
  /** The supervisor has passed its self-test and accepts work. `isInterrupted`: the platform has announced that it takes the sandbox away soon. */
  | { readonly phase: 'ready'; readonly address: SandboxAddress; readonly isInterrupted?: true }
  /** Its processes are in a checkpoint, and it uses no memory. */
  | { readonly phase: 'suspended' }
  /** `detail` is the platform's message, for the operator. */
  | {
      readonly phase: 'gone'
      readonly reason: 'stopped' | 'refused' | 'oom' | 'lost'
      readonly exitCode: number | null
      readonly detail?: string
    }

/** A sandbox and its status as the platform reports them by event. */
export interface SandboxChange {
  readonly sandboxId: string
  /** The platform's name for the sandbox. */
  readonly platformId: string
  readonly status: SandboxStatus
}

/** Capabilities of a platform, so that callers do not depend on its name. */
export interface DriverCapabilities {
  /** Kinds of addresses that its sandboxes have: the run worker has links for these only. */
  readonly addressKinds: readonly SandboxAddress['kind'][]
  /** The platform reports by event that a sandbox runs or ended: a start does not wait for it. */
  readonly reportsStarts: boolean
  /** Typical time from the request until the sandbox is ready, milliseconds: it determines when a start is abandoned. */
  readonly startMs: number
}

/** A sandbox and, if its row knows it, the platform's name for it, which saves a search. */
export type SandboxRef = Pick<Sandbox, 'id' | 'platformId'>

/**
 * Keeps the processes of an idle sandbox outside of the memory. A checkpoint is used once, and the sandbox runs or is suspended, never both: there is no
 * second copy of its processes. `stop` removes the checkpoint.
 */
export interface SandboxSuspension {
  /**
   * Writes the processes of an idle sandbox to a checkpoint with this id and ends them. Idempotent per id; refuses an id that was resumed. Resolves with
   * the checkpoint's bytes. Throws DriverError when there is no checkpoint; the sandbox may be gone then.
   */
  suspend(session: SandboxSession, checkpointId: string): Promise<{ readonly bytes: number }>
  /**
   * Continues the processes of the checkpoint with this id. Resolves as `waitReady` does. Idempotent per id. Throws DriverError when the checkpoint cannot be
   * used; the caller stops the sandbox then.
   */
  resume(sandboxId: string, checkpointId: string, signal: AbortSignal): Promise<SandboxStatus>
  /**
   * Gives another sandbox, which never ran, a copy of the checkpoint of a suspended one. It has the same processes, another identity and other random states
   * when it is resumed. Idempotent per sandbox. Resolves with the bytes of its checkpoint. Throws DriverError when the checkpoint does not exist any more.
   */
  copy(
    from: { readonly sandboxId: string; readonly checkpointId: string },
    to: { readonly sandboxId: string; readonly publicKey: string },
  ): Promise<{ readonly bytes: number }>
}

/** Starts, observes and stops sandboxes. A driver reports states; the orchestrator decides what follows. */
export interface SandboxDriver {
  readonly name: string
  readonly capabilities: DriverCapabilities
  /** Absent: the platform keeps no processes. */
  readonly suspension?: SandboxSuspension
  /** The images that `start` uses. */
  readonly images: ImageCatalogue
  /**
   * Idempotent per `sandboxId`, because a message may be delivered more than once. Resolves with the platform's name for the sandbox, if it has
   * one. Throws DriverError.
   */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<string | undefined>
  inspect(sandboxId: string): Promise<SandboxStatus>
  /** The status of each, in the same order, with as few calls as the platform allows. Throws DriverError. */
  inspectAll(sandboxes: readonly SandboxRef[]): Promise<readonly SandboxStatus[]>
  /** Resolves when the sandbox is ready or gone, or when the signal aborts, with the last known status. */
  waitReady(sandboxId: string, signal: AbortSignal): Promise<SandboxStatus>
  /**
   * Sets how much of the machine's processors a sandbox gets while others want them too, relative to a sandbox with the weight 1; above 0 and at most 1. Resolves
   * for a sandbox that is gone. Absent: each sandbox has its own processors. Throws DriverError.
   */
  weigh?(sandboxId: string, weight: number): Promise<void>
  /** Processor time of the sandbox since it started, in milliseconds; null when the platform does not show it. Never throws. */
  processorMs?(sandboxId: string): Promise<number | null>
  /** Resolves when the sandbox is gone. Idempotent. */
  stop(sandboxId: string, platformId?: string): Promise<void>
  /** The sandboxes that the platform runs. One whose platform name is in `known` may be left out. */
  list(known?: ReadonlySet<string>): AsyncIterable<string>
  /** Resolves when sandboxes can be started. Throws DriverError that says what to do. */
  check(): Promise<void>
}

/** Why a start was refused. `capacity` and `throttled` may succeed later; `configuration` needs the operator. */
export class DriverError extends Error {
  readonly kind: 'capacity' | 'throttled' | 'configuration' | 'unavailable'
  constructor(kind: DriverError['kind'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'DriverError'
    this.kind = kind
  }
}
