import type { SandboxAddress } from '../sandboxes/sandbox.ts'
import type { ByteStream } from './object-store.ts'

export interface LinkRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Path and query, exactly as signed. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | ByteStream
}
export interface LinkResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ByteStream
}

/** The bytes to a supervisor. On AWS only code inside the VPC can have one. */
export interface SandboxLink {
  /** One HTTP/1.1 exchange; resolves with the response's head. Throws LinkError when the sandbox cannot be reached. */
  request(address: SandboxAddress, request: LinkRequest, signal: AbortSignal): Promise<LinkResponse>
  /** Drops idle connections to one sandbox, or to all. */
  close(address?: SandboxAddress): Promise<void>
}

/** `refused`: no byte was taken, so nothing happened there. `broken`: the connection ended in the middle. */
export class LinkError extends Error {
  readonly kind: 'refused' | 'broken'
  constructor(kind: LinkError['kind'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'LinkError'
    this.kind = kind
  }
}
