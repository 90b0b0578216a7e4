import type { Admission, SocketAdmissions } from './socket-admissions.ts'

/** The client at the other end. */
export interface SocketPeer {
  /** Resolves when the message was handed to the network. Rejects when the connection is gone. */
  send(message: string | Uint8Array): Promise<void>
  close(code: number, reason: string): void
}

export interface SocketOptions {
  /** The API. */
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly sockets: SocketAdmissions
  /** Every message is a request to the same address with the headers of the handshake. */
  readonly handshake: Request
  readonly peer: SocketPeer
  readonly admission: Admission
}

/** An address at which a wire speaks WebSocket. */
export interface WireSocket {
  /** Matches the path of a handshake. */
  readonly path: RegExp
  /** Whether it takes binary messages too. */
  readonly isBinary?: true
  /** Serves a connection whose handshake the API has admitted. */
  readonly open: (options: SocketOptions) => {
    /** Takes one message of the client. */
    receive(bytes: Uint8Array, isBinary: boolean): Promise<void>
    /** The connection has closed. */
    end(): void
  }
}
