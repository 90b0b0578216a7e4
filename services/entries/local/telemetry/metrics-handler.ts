import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSameSecret } from '../../../model/same-secret.ts'
import { LOOPBACK_HOSTS } from '../../../http/config.ts'
import { describeCause } from '../../../model/describe-cause.ts'
import type { HttpHandler } from '../../../adapters/storage/files/object-handler.ts'
import type { PrometheusMetrics } from './prometheus.ts'

export const METRICS_PATH = '/metrics'

/** Headers that a reverse proxy adds: a request with one of them did not come from this machine's own scraper. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/** Serves METRICS_PATH. With `key`, a request needs it as a bearer token; without one, only direct requests from this machine are answered. */
export function createMetricsHandler(metrics: Pick<PrometheusMetrics, 'text' | 'contentType'>, key: string | null): HttpHandler {
  return (request, response) => {
    const refusal = refusalOf(request, key)
    if (refusal !== null)
      return answer(response, { status: refusal.status, contentType: 'text/plain; charset=utf-8', text: `${refusal.message}\n` })
    void metrics.text().then(
      (text) => answer(response, { status: 200, contentType: metrics.contentType, text }),
      (error: unknown) =>
        answer(response, {
          status: 500,
          contentType: 'text/plain; charset=utf-8',
          text: `The metrics could not be read: ${describeCause(error)}\n`,
        }),
    )
  }
}

function refusalOf(request: IncomingMessage, key: string | null): { readonly status: number; readonly message: string } | null {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, message: 'Use GET.' }
  if (key !== null)
    return isSameSecret(request.headers.authorization ?? '', `Bearer ${key}`)
      ? null
      : { status: 401, message: 'Send the value of CELLBLOCK_METRICS_KEY as a bearer token.' }
  // A page in a browser may reach this machine under another host name (DNS rebinding), so the name is checked too.
  const isLocal = isLoopback(request.socket.remoteAddress) && LOOPBACK_HOSTS.includes(hostName(request.headers.host ?? ''))
  const isDirect = FORWARDED.every((header) => request.headers[header] === undefined)
  return isLocal && isDirect
    ? null
    : { status: 403, message: 'Metrics are served to this machine only. Set CELLBLOCK_METRICS_KEY to read them from elsewhere.' }
}

const hostName = (host: string): string => host.replace(/:\d+$/, '').toLowerCase()
const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./.test(address))

const answer = (
  response: ServerResponse,
  { status, contentType, text }: { readonly status: number; readonly contentType: string; readonly text: string },
): void => {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).end(text)
}
