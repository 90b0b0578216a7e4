import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInNewContext } from 'node:vm'
import { all, at, list, only } from '../../infra/property.ts'
import type { Templates } from '../../infra/synthesise.ts'

/** Lambda's limit of an event; a binary body is in base64 there. */
const LAMBDA_EVENT_BYTES = 6 * 1024 ** 2

interface Origin {
  readonly url: string
  /** What the distribution adds. */
  readonly headers: Readonly<Record<string, string>>
}

export interface TemplateEdgeOptions {
  readonly templates: Templates
  /** What stands for the function URL. */
  readonly functionUrl: Origin
  /** What stands for the load balancer of the upload service. */
  readonly uploads: Origin
  /** Divides CloudFront's time-outs. */
  readonly timeScale: number
}

/**
 * A distribution as the templates configure it: runs their edge function for each request, enforces the read time-out of each origin (504), and
 * refuses what Lambda would refuse (413, with an answer that is not the API's).
 */
export async function startTemplateEdge(options: TemplateEdgeOptions): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((asked, answer) => void pass(options, asked, answer).catch(() => answer.destroy())).listen(0, '127.0.0.1')
  server.requestTimeout = 0
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function pass(options: TemplateEdgeOptions, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { templates, functionUrl, uploads, timeScale } = options
  const { origin, headers, said } = runEdgeFunction(templates, asked)
  if (said !== null) {
    answer.writeHead(said.statusCode, headers).end(said.body)
    return
  }
  const isUpload = origin !== null
  const { url, headers: added } = isUpload ? uploads : functionUrl
  const target = new URL(asked.url ?? '/', url)
  const passed = send(target, {
    method: asked.method,
    // The load balancer's listener takes http.
    headers: { ...headers, host: target.host, 'x-forwarded-proto': isUpload ? 'http' : 'https', ...added },
  })
  passed.setTimeout((readTimeoutSeconds(templates, origin) * 1000) / timeScale, () => {
    if (!answer.headersSent) answer.writeHead(504).end('Gateway time-out')
    passed.destroy()
  })
  passed.on('response', (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers)
    got.pipe(answer)
  })
  passed.on('error', () => {
    if (!answer.headersSent) answer.writeHead(502).end()
  })
  if (isUpload) return void asked.pipe(passed)
  const chunks: Buffer[] = []
  for await (const chunk of asked) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const isText = /^(text\/|application\/json)/i.test(headers['content-type'] ?? '')
  // The limit counts the event, where text is a JSON string.
  if ((isText ? Buffer.byteLength(JSON.stringify(body.toString())) : Math.ceil(body.length / 3) * 4) > LAMBDA_EVENT_BYTES) {
    passed.destroy()
    answer
      .writeHead(413, { 'content-type': 'text/plain' })
      .end('Request must be smaller than 6291556 bytes for the InvokeFunction operation')
    return
  }
  passed.end(body)
}

function runEdgeFunction(
  templates: Templates,
  { method, headers: given }: IncomingMessage,
): {
  readonly origin: string | null
  readonly headers: Record<string, string>
  /** The answer that the function gives itself. */
  readonly said: { readonly statusCode: number; readonly body: string } | null
} {
  const code = String(only(templates, 'AWS::CloudFront::Function').Properties['FunctionCode']).replace(/^import cf .*$/m, '')
  const event = {
    request: { method, headers: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, { value: String(value) }])) },
  }
  let origin: string | null = null
  const cf = { selectRequestOriginById: (id: string) => (origin = id) }
  const passed = runInNewContext(`${code}; handler(event)`, { cf, event }) as typeof event.request & {
    readonly statusCode?: number
    readonly body?: { readonly data: string }
  }
  const headers = Object.fromEntries(Object.entries(passed.headers).map(([name, { value }]) => [name, value]))
  return {
    origin,
    headers,
    said: passed.statusCode === undefined ? null : { statusCode: passed.statusCode, body: passed.body?.data ?? '' },
  }
}

function readTimeoutSeconds(templates: Templates, origin: string | null): number {
  const origins = all(templates, 'AWS::CloudFront::Distribution').flatMap(({ Properties }) =>
    list(at(Properties, 'DistributionConfig.Origins')),
  )
  const found = origins.find((one) => (origin === null ? at(one, 'CustomOriginConfig') !== undefined : at(one, 'Id') === origin))
  const seconds = Number(at(found, 'CustomOriginConfig.OriginReadTimeout') ?? at(found, 'VpcOriginConfig.OriginReadTimeout'))
  if (!(seconds > 0)) throw new Error(`The template has no read time-out for the origin ${origin ?? 'of the function'}`)
  return seconds
}
