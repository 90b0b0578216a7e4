import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { describeCause } from '../../model/describe-cause.ts'
import { secretsOf, type WebhookEndpoint } from '../../model/webhooks/webhook.ts'
import { safeLookup, urlProblem } from './safe-lookup.ts'

/** An endpoint has this long for its answer, milliseconds. */
const TIMEOUT_MS = 10_000
/** An answer is read up to this size and dropped, bytes. */
const MAX_ANSWER_BYTES = 16 * 1024

export type SendResult =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly isTimeout: boolean }

/** Standard Webhooks 1.0: `v1,` and the base64 of HMAC-SHA256 over id, timestamp and body, one per secret. */
export function signatures(
  secrets: readonly string[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const sign = (secret: string): string =>
    createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64')
  return secrets.map((secret) => `v1,${sign(secret)}`).join(' ')
}

/** Sends a signed event once, without following redirects. Never throws. */
export async function sendWebhook(
  endpoint: WebhookEndpoint,
  event: { readonly id: string; readonly body: string },
  options: { readonly now: number; readonly allowedHosts: readonly string[]; readonly timeoutMs?: number },
): Promise<SendResult> {
  const { now, allowedHosts, timeoutMs = TIMEOUT_MS } = options
  // The operator may have shortened the list of allowed hosts since the endpoint was created.
  const problem = urlProblem(endpoint.url, allowedHosts)
  if (problem !== null) return { kind: 'failed', reason: `The URL ${problem}.`, isTimeout: false }
  const timestamp = Math.floor(now / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Cellblock-Webhooks/1',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secretsOf(endpoint, now), { id: event.id, timestamp, body: event.body }),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    return {
      kind: 'answered',
      status: await post(new URL(endpoint.url), { headers, lookup: safeLookup({ allowedHosts }), signal }, event.body),
    }
  } catch (cause) {
    return { kind: 'failed', reason: describeCause(cause).slice(0, 300), isTimeout: signal.aborted }
  }
}

/** Posts over a connection of this call only and returns the status. Node's own client adds nothing to a function's bundle. */
function post(
  url: URL,
  how: { readonly headers: Readonly<Record<string, string>>; readonly lookup: LookupFunction; readonly signal: AbortSignal },
  body: string,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const options = { ...how, method: 'POST', agent: false } as const
  const call = request(url, options, (answer) => {
    let left = MAX_ANSWER_BYTES
    answer.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) answer.destroy()
    })
    // An incomplete answer has a status already.
    answer.on('error', () => undefined)
    answer.once('close', () => resolve(answer.statusCode ?? 0))
  })
  call.once('error', reject)
  call.end(body)
  return promise
}
