import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { checkEmptyAnswers } from '../../scripts/doctor/account/empty-answers-check.ts'
import { createStreamHandler, type StreamingHandler } from '../../services/http/function-url/stream-handler.ts'
import { provideLambdaRuntime, startFunctionUrl, type FunctionUrl } from '../support/function-url.ts'

const WITHIN_MS = 1_000

const started: FunctionUrl[] = []
beforeAll(() => {
  vi.stubGlobal('awslambda', undefined)
  provideLambdaRuntime()
})
afterEach(() => Promise.all(started.splice(0).map((url) => url.stop())))
afterAll(() => void vi.unstubAllGlobals())

/** The answers of the API to the check, most of them without a body. */
const answer = ({ method, url }: Request): Response => {
  const { pathname } = new URL(url)
  if (pathname === '/e2b/v2/sandboxes') return Response.json({ sandboxID: 's1' }, { status: 201 })
  if (pathname === '/mcp') return new Response(null, { status: 202 })
  return new Response(null, { status: method === 'HEAD' ? 200 : 204 })
}

async function check(handler: StreamingHandler): ReturnType<typeof checkEmptyAnswers> {
  const functionUrl = await startFunctionUrl(handler)
  started.push(functionUrl)
  return checkEmptyAnswers({ url: functionUrl.url, key: 'ck' }, WITHIN_MS)
}

it('passes when every answer without content ends', async () => {
  expect(await check(createStreamHandler(answer))).toMatchObject({ check: 'Empty answers', outcome: 'ok' })
})

it('fails and names each call whose answer does not end', async () => {
  const withoutByte: StreamingHandler = async (event, stream) => {
    const { method } = event.requestContext.http
    const response = answer(new Request(`https://api.example${event.rawPath}`, { method }))
    stream.write(new Uint8Array(await response.arrayBuffer()))
    await new Promise<void>((resolve) => void stream.end(resolve))
  }
  const { outcome, message } = await check(withoutByte)
  expect(outcome).toBe('fail')
  for (const what of ['HEAD', 'OPTIONS', 'MCP', 'E2B'])
    expect(message).toMatch(new RegExp(`${what}[^;]* had no complete answer within 1 s`))
})

it('fails when an answer has another status', async () => {
  const refusing = createStreamHandler((request) => (request.url.endsWith('/mcp') ? new Response('no', { status: 401 }) : answer(request)))
  expect(await check(refusing)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('MCP client was answered with 401') })
})
