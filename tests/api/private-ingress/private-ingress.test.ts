import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiConfigFromEnv } from '../../../services/entries/aws/api/config.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const HOST = 'code.internal.example.com'
/** As the templates of private ingress set them (`tests/infra/private-ingress.test.ts`). */
const VARIABLES = { INGRESS: 'load_balancer', TRUST_PROXY: 'false', ALLOWED_HOSTS: HOST, PUBLIC_URL: `https://${HOST}` }
const OTHERS = {
  AWS_REGION: 'eu-west-1',
  STAGE: 'test',
  TABLE_NAME: 't',
  BUCKET_NAME: 'b',
  TURNS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
  EXECUTIONS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
  PLACEMENTS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/u',
}

let api: TestApi
let key: TestKey
beforeAll(async () => {
  api = await startApi({ config: apiConfigFromEnv({ ...OTHERS, ...VARIABLES }).api })
  key = await api.newKey()
})
afterAll(() => api.stop())

/** Sends the head of a request as the load balancer passes it on, and no body. */
async function ask(method: string, path: string, headers: Record<string, string>): Promise<{ status: number | undefined; body: unknown }> {
  const asked = request(new URL(path, api.url), { method, headers: { authorization: `Bearer ${key.key}`, ...headers } })
  asked.on('error', () => undefined)
  if (method === 'GET') asked.end()
  else asked.flushHeaders()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const body: unknown = await json(answer)
  asked.destroy()
  return { status: answer.statusCode, body }
}

it('serves its own host name only and ignores the header X-Forwarded-Host', async () => {
  expect((await ask('GET', '/v1/limits', { host: HOST })).status).toBe(200)
  const foreign = await ask('GET', '/v1/limits', { host: '10.20.0.7', 'x-forwarded-host': HOST })
  expect(foreign).toMatchObject({ status: 421, body: { error: { code: 'unknown_host' } } })
  expect((await ask('GET', '/v1/limits', { host: HOST, 'x-forwarded-host': 'evil.example' })).status).toBe(200)
})

it("states the API's own limits on bodies, not those of a function", async () => {
  const { body } = await ask('GET', '/v1/limits', { host: HOST })
  expect(body).toMatchObject({
    limits: {
      max_json_bytes: { value: LIMITS.maxJsonBytes },
      max_multipart_file_bytes: { value: LIMITS.maxMultipartFileBytes },
      max_file_bytes: { value: 512 * 2 ** 20 },
    },
  })
})

it('refuses a larger body by its announced length, before a byte of it came', async () => {
  const bytes = { 'content-type': 'application/json', 'content-length': String(LIMITS.maxJsonBytes + 1) }
  const refused = await ask('POST', '/v1/containers', { host: HOST, ...bytes })
  expect(refused).toMatchObject({ status: 413, body: { error: { code: 'request_too_large' } } })
})
