import { createStreamHandler } from '../../services/http/function-url/stream-handler.ts'
import { provideLambdaRuntime, startFunctionUrl, type FunctionUrl } from './function-url.ts'
import { startServer, type LocalServerProcess } from './local-server.ts'
import { callNative } from './native-client.ts'

export interface ServerBehindFunctionUrl {
  /** The server, with the address of the function URL. */
  readonly server: Pick<LocalServerProcess, 'url' | 'apiKey' | 'native'>
  stop(): Promise<void>
}

/** Headers that concern one connection. */
const OF_ONE_CONNECTION = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'expect', 'upgrade']

/**
 * A local server whose answers pass the function's handler and the stand-in of the function URL, which never ends an answer without a byte. Links in
 * its answers lead there too.
 */
export async function startServerBehindFunctionUrl(env: Readonly<Record<string, string>> = {}): Promise<ServerBehindFunctionUrl> {
  provideLambdaRuntime()
  let target = ''
  const functionUrl: FunctionUrl = await startFunctionUrl(createStreamHandler((request) => relay(request, target)))
  const local = await startServer({ env: { ...env, CELLBLOCK_PUBLIC_URL: functionUrl.url } }).catch(async (error: unknown) => {
    await functionUrl.stop()
    throw error
  })
  target = local.url
  const { url } = functionUrl
  return {
    server: { url, apiKey: local.apiKey, native: callNative(url, local.apiKey) },
    async stop() {
      await functionUrl.stop()
      await local.stop()
    },
  }
}

async function relay(request: Request, target: string): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers([...request.headers].filter(([name]) => !OF_ONE_CONNECTION.includes(name)))
  const body = request.body === null ? {} : { body: await request.arrayBuffer() }
  const answer = await fetch(`${target}${pathname}${search}`, { method: request.method, headers, redirect: 'manual', ...body })
  const given = new Headers([...answer.headers].filter(([name]) => !OF_ONE_CONNECTION.includes(name)))
  // The relay has decoded the body.
  given.delete('content-encoding')
  return new Response(answer.body, { status: answer.status, headers: given })
}
