/** A container that the gateway serves or is asked to serve. The row is a hint with an answer: what is enforced follows from the rows that it names. */
export interface AttachedContainer {
  readonly tenant: string
  readonly containerId: string
  readonly sandboxId: string
  /** Of the latest request. */
  readonly version: string
  /** The version that the gateway has dealt with; null: none. */
  readonly served: string | null
  /** Why the gateway could not enforce that version; null: it does. */
  readonly problem: string | null
}

/** The process that is the gateway now. */
export interface LeadingGateway {
  readonly holder: string
  /** Epoch ms; the gateway closes everything before it serves without a lease. */
  readonly expiresAt: number
  /** Public key, PEM, with which secrets are sealed; null until the gateway has read its keys. */
  readonly sealingKey: string | null
}

/** How workers and the API reach a gateway that accepts no connection. Reads are consistent. */
export interface AttachmentStore {
  /** Replaces the request for this container. `expiresAt`, epoch ms: it is removed about then. */
  request(wanted: Pick<AttachedContainer, 'tenant' | 'containerId' | 'sandboxId' | 'version'>, expiresAt: number): Promise<void>
  get(containerId: string): Promise<AttachedContainer | null>
  list(): Promise<readonly AttachedContainer[]>
  /** Answers a request. False when another one replaced it. */
  settle(containerId: string, answer: { readonly version: string; readonly problem: string | null }): Promise<boolean>
  /** Idempotent. */
  remove(containerId: string): Promise<void>
  /** Takes or renews the lease. False while another process has it. */
  lead(gateway: LeadingGateway, now: number): Promise<boolean>
  leader(): Promise<LeadingGateway | null>
}
