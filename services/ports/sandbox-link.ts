import type { SandboxAddress } from '../model/sandboxes/sandbox.ts'
import type { Duplex } from 'node:stream'
import type { ByteStream } from '../model/byte-stream.ts'

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
  /** Header fields that follow the body; complete once the body has been read, empty before. */
  readonly trailers?: () => Readonly<Record<string, string>>
}

/** The transport to a supervisor. In AWS only code inside the VPC can use it. */
export interface SandboxLink {
  /** One HTTP/1.1 exchange; resolves with the head of the answer. Throws LinkError when the sandbox cannot be reached. */
  request(address: SandboxAddress, request: LinkRequest, signal: AbortSignal): Promise<LinkResponse>
  /** An exchange without bodies whose connection carries bytes after the answer 101; the caller ends it. Throws LinkError, also for any other answer. */
  upgrade(address: SandboxAddress, request: LinkRequest, signal: AbortSignal): Promise<Duplex>
  /** Drops idle connections to one sandbox, or to all. */
  close(address?: SandboxAddress): Promise<void>
}

/** `refused`: the sandbox received no byte, so the request had no effect. `broken`: the connection ended during the exchange. */
export class LinkError extends Error {
  readonly kind: 'refused' | 'broken'
  constructor(kind: LinkError['kind'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'LinkError'
    this.kind = kind
  }
}
