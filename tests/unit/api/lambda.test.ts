import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

interface Answer {
  readonly statusCode: number
  readonly headers: Record<string, string>
}
type Handler = (event: unknown, stream: PassThrough, context: unknown) => Promise<void>

let handler: Handler
let answer: Answer | null = null

/** The globals that Lambda's runtime provides to a streaming function. */
beforeAll(async () => {
  vi.stubGlobal('awslambda', {
    streamifyResponse: (streaming: Handler) => streaming,
    HttpResponseStream: { from: (stream: PassThrough, head: Answer) => ((answer = head), stream) },
  })
  const env = {
    AWS_REGION: 'eu-west-1',
    STAGE: 'test',
    TABLE_NAME: 't',
    BUCKET_NAME: 'b',
    TURNS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
    EXECUTIONS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
    PLACEMENTS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  handler = (await import('../../../services/entries/aws/api/lambda.ts')).handler as unknown as Handler
})
afterAll(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

async function invoke(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ readonly head: Answer | null; readonly body: unknown }> {
  const stream = new PassThrough()
  const http = { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' }
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host: 'api.example', ...headers },
    isBase64Encoded: false,
    requestContext: { http, domainName: 'api.example', stage: '$default' },
    ...(body === undefined ? {} : { body }),
  }
  const [said] = await Promise.all([text(stream), handler(event, stream, {})])
  return { head: answer, body: JSON.parse(said) }
}

it('replies through a function URL', async () => {
  const { head, body } = await invoke('GET', '/healthz')
  expect(head?.statusCode).toBe(200)
  expect(head?.headers['x-request-id']).toMatch(/^req_/)
  expect(body).toEqual({ status: 'ok' })
})

it('refuses a request without a key before any call to AWS', async () => {
  const { head, body } = await invoke('POST', '/v1/containers', { 'content-type': 'application/json' }, '{"name":"x"}')
  expect(head?.statusCode).toBe(401)
  expect(body).toMatchObject({ error: { code: 'invalid_api_key' } })
})
