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
export class Admission {
  #leave: () => void
  #messages: MessageAccount
  #isReleased = false

  constructor(leave: () => void, messages: MessageAccount) {
    this.#leave = leave
    this.#messages = messages
  }

  get messages(): MessageAccount {
    return this.#messages
  }

  /** Gives the connection another place. */
  move(leave: () => void, messages: MessageAccount): void {
    const { bytes } = this.#messages.lease
    this.#free()
    this.#leave = leave
    this.#messages = messages
    if (this.#isReleased) this.#free()
    else messages.lease.set(bytes)
  }

  /** Frees the connection's place; further calls have no effect. */
  release(): void {
    if (!this.#isReleased) this.#free()
    this.#isReleased = true
  }

  #free(): void {
    this.#leave()
    this.#messages.lease.release()
  }
}

/** Connections of one address whose clients have not said yet who they are. */
const MAX_UNKNOWN = 64

/**
 * The WebSocket connections of this process. Handshakes and messages are requests to the API, so every check of a request holds for them; this class
 * connects these requests with their connection, because a request cannot name its own connection.
 */
export class SocketAdmissions {
  readonly #slots: StreamSlots
  readonly #admitted = new WeakMap<Request, Admission>()
  readonly #unstored = new WeakMap<Request, ReadonlySet<string>>()
  readonly #addresses = new WeakMap<Request, string>()
  readonly #connections = new WeakMap<Request, Admission>()

  /** `capacity`: connections of this process. */
  constructor(capacity: number) {
    this.#slots = createStreamSlots(capacity)
  }

  /** Called by the route of the handshake. `max` is the tenant's limit. Throws ServiceError `too_many_streams`. */
  admit(request: Request, { caller, max, messages }: { caller: Caller; max: number; messages: MessageAccount }): void {
    this.#admitted.set(request, new Admission(this.#slots.take(caller.tenant, max), messages))
  }

  /** Called by the server before the API answers the handshake. */
  arrive(request: Request, address: string): void {
    this.#addresses.set(request, `address ${address}`)
  }

  /** The same for a protocol whose first message has the key: until then the connection belongs to its address. Throws ServiceError `too_many_streams`. */
  admitUnknown(request: Request, messagesOf: (owner: string) => MessageAccount): void {
    const owner = this.#addresses.get(request) ?? 'address'
    this.#admitted.set(request, new Admission(this.#slots.take(owner, MAX_UNKNOWN), messagesOf(owner)))
  }

  /** Connects a request with the connection of its client, whose key it has. */
  bind(request: Request, connection: Admission): void {
    this.#connections.set(request, connection)
  }

  /** The connection of this request, if it has one, belongs to its account from now on. Throws ServiceError `too_many_streams`. */
  identify(request: Request, { caller, max, messages }: { caller: Caller; max: number; messages: MessageAccount }): void {
    const connection = this.#connections.get(request)
    if (connection !== undefined) connection.move(this.#slots.take(caller.tenant, max), messages)
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
