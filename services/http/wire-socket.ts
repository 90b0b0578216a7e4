import type { MessageAccount, SocketAdmissions } from './socket-admissions.ts'

/** The client at the other end. */
export interface SocketPeer {
  /** Resolves when the message was handed to the network. Rejects when the connection is gone. */
  send(text: string): Promise<void>
  close(code: number, reason: string): void
}

export interface SocketOptions {
  /** The API. */
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly sockets: SocketAdmissions
  /** Every message is a request to the same address with the headers of the handshake. */
  readonly handshake: Request
  readonly peer: SocketPeer
  readonly messages: MessageAccount
}

/** An address at which a wire speaks WebSocket. */
export interface WireSocket {
  readonly path: string
  /** Serves a connection whose handshake the API has admitted. */
  readonly open: (options: SocketOptions) => {
    /** Takes one message of the client. */
    receive(bytes: Uint8Array): Promise<void>
    /** The connection has closed. */
    end(): void
  }
}
