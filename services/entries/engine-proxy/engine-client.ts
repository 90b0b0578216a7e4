import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

/** A request that the proxy writes itself: nothing of the client's bytes reaches the engine. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly signal: AbortSignal
}

/** The Docker engine behind its Unix socket. */
export class EngineClient {
  readonly #socketPath: string

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** Resolves with the beginning of the answer. Rejects when the engine does not answer, or with the signal's reason. */
  async send({ method, path, body, signal }: EngineRequest): Promise<IncomingMessage> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = { host: 'engine', 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const sent = request({ socketPath: this.#socketPath, method, path, headers, signal })
    sent.end(text)
    const [response] = (await once(sent, 'response', { signal })) as [IncomingMessage]
    return response
  }

  /** Status and body of a short answer. */
  async read(asked: EngineRequest): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await this.send(asked)
    const status = response.statusCode ?? 500
    return {
      status,
      body: response.headers['content-type']?.startsWith('application/json') === true ? await json(response) : void response.resume(),
    }
  }
}
