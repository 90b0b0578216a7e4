import type { Caller } from '../model/tenants/tenant.ts'
import { createStreamSlots, type StreamSlots } from './stream-slots.ts'

/** A handshake that passed every check of a request. */
export interface Admission {
  readonly caller: Caller
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
  admit(request: Request, caller: Caller, max: number): void {
    this.#admitted.set(request, { caller, release: this.#slots.take(caller.tenant, max) })
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
