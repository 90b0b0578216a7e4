// Serves the handler of a bundle as a function URL with response streaming does: one event of format 2.0 per request, and each part of the answer at
// once. Arguments: the path of the bundle, the port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pathToFileURL } from 'node:url'

interface Head {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies?: readonly string[]
}
type Handler = (event: object, stream: ServerResponse, context: object) => Promise<unknown>

// Lambda's runtime provides this.
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => handler,
    HttpResponseStream: {
      from: (stream: ServerResponse, { statusCode, headers, cookies = [] }: Head) =>
        stream.writeHead(statusCode, { ...headers, ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) }),
    },
  },
})

async function eventOf(asked: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = []
  for await (const chunk of asked) chunks.push(chunk as Buffer)
  const url = new URL(asked.url ?? '/', 'http://function')
  const { cookie, ...others } = asked.headers
  const headers = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]))
  return {
    version: '2.0',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    requestContext: { http: { method: asked.method, path: url.pathname, sourceIp: '127.0.0.1' }, domainName: headers['host'] },
    body: Buffer.concat(chunks).toString('base64'),
    isBase64Encoded: true,
  }
}

const [bundle = '', port = ''] = process.argv.slice(2)
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: Handler }
createServer((asked, answer) => {
  void eventOf(asked)
    .then((event) => handler(event, answer, {}))
    .catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      answer.destroy()
    })
}).listen(Number(port), '127.0.0.1')
