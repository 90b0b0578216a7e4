import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A Chat Completions endpoint that replies at once: one tool call per code of the script, then a sentence. */
export interface ScriptedModel {
  readonly url: string
  /** The total time from request to reply, milliseconds. */
  busyMs(): number
  stop(): Promise<void>
}

interface ModelRequest {
  readonly messages: readonly { readonly role: string }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

export async function startScriptedModel(script: readonly string[]): Promise<ScriptedModel> {
  let busyMs = 0
  const server = createServer((request, response) => {
    const began = performance.now()
    response.once('finish', () => (busyMs += performance.now() - began))
    void answer(request).then(
      (chunks) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
      },
      () => response.writeHead(400).end(),
    )
  })
  async function answer(request: IncomingMessage): Promise<readonly unknown[]> {
    const { messages, tools } = (await json(request)) as ModelRequest
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
    const step = turn.filter(({ role }) => role === 'tool').length
    const code = script[step]
    const name = tools?.[0]?.function.name
    if (code === undefined || name === undefined) return chunksOf({ role: 'assistant', content: 'Done.' }, 'stop')
    const call = { index: 0, id: `call_${step}`, type: 'function', function: { name, arguments: JSON.stringify({ code }) } }
    return chunksOf({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls')
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    busyMs: () => busyMs,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function chunksOf(delta: unknown, finishReason: string): readonly unknown[] {
  const common = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 0, model: 'bench' }
  return [
    { ...common, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...common, choices: [{ index: 0, delta: {}, finish_reason: finishReason }] },
    { ...common, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ]
}
