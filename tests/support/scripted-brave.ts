import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'

export interface BraveRequest {
  readonly path: string
  readonly token: string | undefined
  readonly query: Readonly<Record<string, string>>
}
export interface BraveResult {
  readonly title: string
  readonly url: string
  readonly description?: string
  readonly age?: string
  readonly extra_snippets?: readonly string[]
}
/** `status` refuses as the service does. `body` is sent unchanged. The reply waits for `gate`. */
export type BraveAnswer =
  | { readonly results: readonly BraveResult[] }
  | { readonly status: number }
  | { readonly body: string }
  | { readonly gate: Promise<unknown> }

const CODES: Readonly<Record<number, string>> = { 401: 'SUBSCRIPTION_TOKEN_INVALID', 422: 'VALIDATION', 429: 'RATE_LIMITED' }

export interface ScriptedBrave {
  readonly setting: { readonly apiKey: string; readonly baseUrl: string }
  readonly requests: BraveRequest[]
  play(answer: (request: BraveRequest) => BraveAnswer): void
  stop(): Promise<void>
}

/** A loopback HTTP server with the protocol of the Brave Search API: token, parameter limits, envelopes, compression. */
export async function startScriptedBrave(): Promise<ScriptedBrave> {
  const apiKey = 'BSA-scripted'
  let script: (request: BraveRequest) => BraveAnswer = () => ({ results: [] })
  const requests: BraveRequest[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const seen = {
      path: url.pathname,
      token: request.headers['x-subscription-token']?.toString(),
      query: Object.fromEntries(url.searchParams),
    }
    requests.push(seen)
    const send = (status: number, body: string): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'br' })
      response.end(brotliCompressSync(body))
    }
    const refuse = (status: number): void =>
      send(
        status,
        JSON.stringify({ type: 'ErrorResponse', error: { id: 'e', status, code: CODES[status] ?? 'INTERNAL', detail: 'scripted' } }),
      )
    const count = Number(seen.query['count'] ?? 20)
    if (seen.path !== '/res/v1/web/search') return refuse(404)
    if (seen.token !== apiKey) return refuse(401)
    if ((seen.query['q'] ?? '') === '' || (seen.query['q'] ?? '').length > 1_000 || !(count >= 1 && count <= 20)) return refuse(422)
    const answer = script(seen)
    if ('status' in answer) return refuse(answer.status)
    if ('body' in answer) return send(200, answer.body)
    if ('gate' in answer) return void answer.gate.then(() => send(200, '{}'))
    const results = answer.results.map((result) => ({
      type: 'search_result',
      is_source_local: false,
      language: 'en',
      family_friendly: true,
      ...result,
    }))
    send(200, JSON.stringify({ type: 'search', query: { original: seen.query['q'] }, mixed: {}, web: { type: 'search', results } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    setting: { apiKey, baseUrl: `http://127.0.0.1:${port}/res/v1` },
    requests,
    play: (next) => {
      script = next
      requests.length = 0
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
