import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The fields of a request to the upstream that tests read. */
export interface UpstreamRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: {
    readonly model: string
    readonly messages: readonly {
      readonly role: string
      readonly content: unknown
      readonly tool_calls?: readonly unknown[]
      readonly tool_call_id?: string
    }[]
    readonly tools?: readonly { readonly function: { readonly name: string } }[]
    readonly tool_choice?: unknown
    readonly [field: string]: unknown
  }
}

/** One answer, as the chunks' `delta`s in order. */
export interface ScriptedAnswer {
  readonly deltas: readonly Readonly<Record<string, unknown>>[]
  /** Null omits the finish reason. */
  readonly finish?: string | null
  /** Breaks the connection after the deltas. */
  readonly isCut?: boolean
  /** Waited for after the deltas, before the end. */
  readonly gate?: Promise<unknown>
  /** An HTTP error instead of a stream. */
  readonly status?: number
  /** Headers of that error. By default they tell the client not to retry. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body of that error; with no `status` it comes inside the stream, after the deltas. */
  readonly error?: { readonly message: string; readonly code?: string | null }
}

export type Script = (request: UpstreamRequest, turn: number) => ScriptedAnswer

export interface ScriptedUpstream {
  /** For `base_url`. */
  readonly baseUrl: string
  readonly requests: UpstreamRequest[]
  play(script: Script): void
  stop(): Promise<void>
}

/** Text in pieces of `size` characters. */
export const say = (text: string, size = 7): ScriptedAnswer => ({
  deltas: [
    { role: 'assistant', content: '' },
    ...(text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? []).map((content) => ({ content })),
  ],
  finish: 'stop',
})

/** Calls of tools, their arguments in pieces, one call after another as real endpoints send them. */
export const call = (...calls: readonly { readonly name: string; readonly arguments: string }[]): ScriptedAnswer => ({
  deltas: calls.flatMap(({ name, arguments: text }, index) => [
    { tool_calls: [{ index, id: `call_${name}_${index}`, type: 'function', function: { name, arguments: '' } }] },
    ...(text.match(/[\s\S]{1,9}/gu) ?? []).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]),
  finish: 'tool_calls',
})

export const runPython = (...codes: readonly string[]): ScriptedAnswer =>
  call(...codes.map((code) => ({ name: 'python', arguments: JSON.stringify({ code }) })))

/** A loopback HTTP model endpoint with the Chat Completions streaming protocol. Its script decides the replies. */
export async function startScriptedUpstream(script: Script = () => say('Hello.')): Promise<ScriptedUpstream> {
  let current = script
  const requests: UpstreamRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen = {
        path: request.url ?? '',
        authorization: request.headers.authorization,
        body: JSON.parse(Buffer.concat(chunks).toString()) as UpstreamRequest['body'],
      }
      requests.push(seen)
      void reply(response, seen.body.model, current(seen, requests.length - 1))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    play: (next) => {
      current = next
      requests.length = 0
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reply(response: ServerResponse, model: string, answer: ScriptedAnswer): Promise<void> {
  if (answer.status !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...(answer.headers ?? { 'x-should-retry': 'false' }) })
    response.end(JSON.stringify({ error: { message: 'scripted', type: 'scripted', code: null, ...answer.error } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (fields: Readonly<Record<string, unknown>>): void => {
    response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, ...fields })}\n\n`)
  }
  for (const delta of answer.deltas) send({ choices: [{ index: 0, delta, finish_reason: null }] })
  await answer.gate
  if (answer.isCut === true) {
    response.destroy()
    return
  }
  if (answer.error !== undefined) {
    response.end(`data: ${JSON.stringify({ error: answer.error })}\n\n`)
    return
  }
  if (answer.finish !== null) send({ choices: [{ index: 0, delta: {}, finish_reason: answer.finish ?? 'stop' }] })
  send({
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 40 } },
  })
  response.end('data: [DONE]\n\n')
}
