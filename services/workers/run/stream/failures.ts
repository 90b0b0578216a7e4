import type { SupervisorError } from '../../../ports/supervisor.ts'

export type LossReason = 'sandbox_lost' | 'deadline'

/** The sandbox received no byte of the execution, so nothing ran there. */
export class SandboxUnreachableError extends Error {
  override readonly name = 'SandboxUnreachableError'
}

/** The sandbox stopped, or no longer answers, after it had the code. */
export class SandboxLostError extends Error {
  override readonly name = 'SandboxLostError'
  readonly reason: LossReason
  constructor(reason: LossReason, options: { readonly cause?: unknown } = {}) {
    super(`The sandbox is lost: ${reason}`, options)
    this.reason = reason
  }
}

/** The sandbox sent data that no retry can read. The execution fails; the sandbox is kept. */
export class InvalidOutputError extends Error {
  override readonly name = 'InvalidOutputError'
}

/** The sandbox did not start the work, because it accepts none like it. The sandbox and its kernel are as before. */
export class RefusedWorkError extends Error {
  override readonly name = 'RefusedWorkError'
}

/** Another worker, possibly one that has just crashed, uses the sandbox's namespace: retry later. */
export class SandboxBusyError extends Error {
  override readonly name = 'SandboxBusyError'
}

/** What a refusal by the supervisor means for the execution; most faults are worth a retry by a later step. */
export function mapSupervisorError(
  refusal: SupervisorError,
  { isSent, isAlone }: { readonly isSent: boolean; readonly isAlone: boolean },
): Error {
  switch (refusal.code) {
    case 'wrong_sandbox':
    case 'conflict':
    case 'not_found':
      return isSent
        ? new SandboxLostError('sandbox_lost', { cause: refusal })
        : new SandboxUnreachableError('It does not accept this execution', { cause: refusal })
    case 'protocol':
      return new InvalidOutputError(refusal.message, { cause: refusal })
    case 'bad_request':
    case 'too_large':
      // What runs beside other work ends on its own: the sandbox continues with the others.
      if (!isAlone) return new RefusedWorkError(refusal.message, { cause: refusal })
      return new SandboxLostError('sandbox_lost', { cause: refusal })
    case 'disk_full':
      return new SandboxLostError('sandbox_lost', { cause: refusal })
    case 'unauthorized':
    case 'unavailable':
    case 'internal':
      return refusal
  }
}

/** Outcome of a run in a sandbox, for the caller to branch on. */
export type RunOutcome =
  /** The result is committed, or the execution was handed to the next step. */
  | { readonly kind: 'done' }
  | { readonly kind: 'lost'; readonly reason: LossReason }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'busy' }

/** Null for a failure that a later step retries. */
export function outcomeOf(cause: unknown): RunOutcome | null {
  if (cause instanceof SandboxLostError) return { kind: 'lost', reason: cause.reason }
  if (cause instanceof InvalidOutputError) return { kind: 'invalid', detail: cause.message }
  if (cause instanceof RefusedWorkError) return { kind: 'refused', detail: cause.message }
  if (cause instanceof SandboxUnreachableError) return { kind: 'unreachable' }
  return cause instanceof SandboxBusyError ? { kind: 'busy' } : null
}
