import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Headers } from './secrets.ts'

/** With them a server would treat an allowed method as another one. */
export const METHOD_OVERRIDES: readonly string[] = ['x-http-method', 'x-http-method-override', 'x-method-override']

/** Calls `act` once: when the answer was sent or its connection has ended. An answer that waits for an earlier one on the connection reports no end of it. */
export function onceAnswered({ socket }: Pick<IncomingMessage, 'socket'>, outgoing: ServerResponse, act: () => void): void {
  let hasEnded = false
  const end = (): void => {
    socket.off('close', end)
    outgoing.off('close', end)
    // One of the two events is a listener of the other.
    if (hasEnded) return
    hasEnded = true
    act()
  }
  socket.once('close', end)
  outgoing.once('close', end)
}

/** Values of a field, with repetitions, as they were sent. */
export const valuesOf = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)

/** Size of a head on the wire, about. */
export const headBytes = (headers: Headers): number =>
  Object.entries(headers).reduce((sum, [name, values]) => sum + values.reduce((own, value) => own + name.length + value.length + 4, 0), 64)
