interface TerminalRequest {
  /** Empty: the request names none. */
  readonly user?: string
  readonly chat?: string
  readonly context?: string
  readonly body?: unknown
}

/** A call of a terminal as Open WebUI's server makes it. */
export type TerminalCall = (method: string, path: string, request?: TerminalRequest) => Promise<Response>

/** Calls the terminals of the account that has the key. */
export const terminalClient =
  (url: string, key: string): TerminalCall =>
  (method, path, { user = 'ann', chat, context, body } = {}) =>
    fetch(`${url}/open-webui${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${key}`,
        ...(user !== '' && { 'x-user-id': user }),
        ...(chat !== undefined && { 'x-session-id': chat }),
        ...(context !== undefined && { 'x-terminal-context-id': context }),
        ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
