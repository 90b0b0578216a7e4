import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A client that does not close is disconnected after this time. */
const CLOSE_MS = 5_000
/** Programs show the first line; a longer text is in the body. */
const MAX_PHRASE = 400
const NOT_IN_A_PHRASE = /[^\x20-\x7e]/g

const phraseOf = (reason: string): string => reason.replace(NOT_IN_A_PHRASE, '?').slice(0, MAX_PHRASE)

/** An answer that says in one sentence what was refused and why, in its first line and in its body. */
export function answerRefusal(outgoing: ServerResponse, status: number, reason: string): void {
  const body = Buffer.from(`${reason}\n`)
  outgoing.writeHead(status, phraseOf(reason), {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    'cellblock-network': 'refused',
  })
  outgoing.end(body)
}

/** The same for CONNECT and for a stream that carries no request yet. */
export function endWithRefusal(stream: Duplex, status: number, reason: string): void {
  const body = Buffer.from(`${reason}\n`)
  const head = `HTTP/1.1 ${status} ${phraseOf(reason)}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nCellblock-Network: refused\r\nConnection: close\r\n\r\n`
  stream.on('error', () => undefined)
  // What the client still sends is dropped: closing with unread bytes would discard the answer.
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), CLOSE_MS)
  stream.once('close', () => clearTimeout(timer))
  stream.end(Buffer.concat([Buffer.from(head, 'latin1'), body]))
}
