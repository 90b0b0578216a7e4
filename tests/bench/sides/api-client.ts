import { Agent, request } from 'undici'

export interface ExecutionAnswer {
  readonly id: string
  readonly status: string
  readonly error: { readonly name: string; readonly value: string } | null
  readonly created_at: string
  readonly ended_at: string | null
  readonly usage: Readonly<Record<string, number>> | null
  readonly files: readonly { readonly id: string; readonly bytes: number }[]
}

/** The fastest Node client, with keep-alive connections. Its cost is part of every figure. */
export interface ApiClient {
  json<Answer>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>
  /** The status of the answer, also of a refusal. */
  status(method: 'GET' | 'POST', path: string, body?: unknown): Promise<number>
  put(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<void>
  /** Returns the number of bytes received and discards them. */
  download(path: string): Promise<number>
  createContainer(): Promise<string>
  deleteContainer(id: string): Promise<void>
  /** Runs code and waits for its end. Throws if it did not succeed, because a failed run would measure something else. */
  run(container: string, code: string, language?: string): Promise<ExecutionAnswer>
  /** Sends JSON with headers of another wire and returns the body of the answer, whatever its form. */
  post(path: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<string>
  close(): Promise<void>
}

export function createApiClient(base: string, apiKey: string): ApiClient {
  const agent = new Agent({ keepAliveTimeout: 60_000, connections: 32, headersTimeout: 120_000, bodyTimeout: 120_000 })
  const authorization = `Bearer ${apiKey}`

  const send = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const text = body === undefined ? null : JSON.stringify(body)
    return request(`${base}${path}`, { dispatcher: agent, method, headers, body: text })
  }

  async function json<Answer>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const answer = await send(method, path, body)
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${await answer.body.text()}`)
    return (await answer.body.json()) as Answer
  }

  return {
    json,
    async status(method, path, body) {
      const answer = await send(method, path, body)
      await answer.body.dump()
      return answer.statusCode
    },
    async put(url, headers, body) {
      const answer = await request(url, { dispatcher: agent, method: 'PUT', headers, body })
      if (answer.statusCode >= 300) throw new Error(`The upload was answered with ${answer.statusCode}: ${await answer.body.text()}`)
      await answer.body.dump()
    },
    async download(path) {
      let answer = await request(path.startsWith('http') ? path : `${base}${path}`, {
        dispatcher: agent,
        headers: path.startsWith('http') ? {} : { authorization },
      })
      const location = answer.headers['location']
      if (answer.statusCode === 302 && typeof location === 'string') {
        await answer.body.dump()
        answer = await request(location, { dispatcher: agent })
      }
      if (answer.statusCode !== 200) throw new Error(`GET ${path} answered ${answer.statusCode}`)
      let bytes = 0
      for await (const chunk of answer.body) bytes += (chunk as Uint8Array).byteLength
      return bytes
    },
    createContainer: async () => (await json<{ readonly id: string }>('POST', '/v1/containers', { name: 'bench' })).id,
    deleteContainer: async (id) => void (await json('DELETE', `/v1/containers/${id}`)),
    async run(container, code, language) {
      const body = language === undefined ? { code } : { code, language }
      const answer = await json<ExecutionAnswer>('POST', `/v1/containers/${container}/executions?wait=60`, body)
      if (answer.status !== 'succeeded')
        throw new Error(`${answer.id} ended ${answer.status}: ${answer.error?.name ?? ''} ${answer.error?.value ?? ''}`)
      return answer
    },
    async post(path, headers, body) {
      const answer = await request(`${base}${path}`, {
        dispatcher: agent,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const text = await answer.body.text()
      if (answer.statusCode >= 300) throw new Error(`POST ${path} answered ${answer.statusCode}: ${text}`)
      return text
    },
    close: () => agent.close(),
  }
}
