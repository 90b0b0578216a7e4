import type { Caller } from '../model/tenants/tenant.ts'
import type { ByteLease } from './connection-budget.ts'
import { createStreamSlots, type StreamSlots } from './stream-slots.ts'

/** What the messages of a connection cost its tenant. */
export interface MessageAccount {
  /** Messages that arrive, wait or run. */
  readonly lease: ByteLease
  /** Counts a message that is refused before it becomes a request. Throws ServiceError `rate_limit_exceeded`. */
  countRefused(refusal: { readonly status: number; readonly code: string }): Promise<void>
}

/** A handshake that passed every check of a request. */
export interface Admission {
  readonly messages: MessageAccount
  /** Frees the connection's place; further calls have no effect. */
  release(): void
}

/**
 * The WebSocket connections of this process. Handshakes and messages are requests to the API, so every check of a request holds for them; this class
 * connects these requests with their connection, because a request cannot name its own connection.
 */
export class SocketAdmissions {
  readonly #slots: StreamSlots
  readonly #admitted = new WeakMap<Request, Admission>()
  readonly #unstored = new WeakMap<Request, ReadonlySet<string>>()

  /** `capacity`: connections of this process. */
  constructor(capacity: number) {
    this.#slots = createStreamSlots(capacity)
  }

  /** Called by the route of the handshake. `max` is the tenant's limit. Throws ServiceError `too_many_streams`. */
  admit(request: Request, { caller, max, messages }: { caller: Caller; max: number; messages: MessageAccount }): void {
    const leave = this.#slots.take(caller.tenant, max)
    const release = (): void => {
      leave()
      messages.lease.release()
    }
    this.#admitted.set(request, { messages, release })
  }

  /** Called by the server after the API answered the handshake; null when the API refused it. */
  take(request: Request): Admission | null {
    const admission = this.#admitted.get(request) ?? null
    this.#admitted.delete(request)
    return admission
  }

  /** Lets a request of a connection read these responses, although they are not stored. */
  share(request: Request, responseIds: ReadonlySet<string>): void {
    this.#unstored.set(request, responseIds)
  }

  /** Whether this unstored response was made on the connection that the request belongs to. */
  isOwn(request: Request, responseId: string): boolean {
    return this.#unstored.get(request)?.has(responseId) ?? false
  }

  get open(): number {
    return this.#slots.open
  }
}
