import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const HOST = '127.0.0.1'
let server: LocalServerProcess
const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
    // The first attempt fails, so the event comes by a retry.
    response.writeHead(received.length === 1 ? 500 : 204).end()
  })
})
beforeAll(async () => {
  receiver.listen(0, HOST)
  await once(receiver, 'listening')
  server = await startServer({ env: { CELLBLOCK_POOL: '1', CELLBLOCK_WEBHOOK_HOSTS: HOST } })
})
afterAll(async () => {
  await server.stop()
  receiver.close()
})

it('reports the end of code and of a turn to an endpoint, and repeats a failed attempt', async () => {
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 })
  const made: unknown = await client.post('/webhook_endpoints', {
    body: {
      name: 'all',
      url: `http://${HOST}:${(receiver.address() as AddressInfo).port}/`,
      event_types: ['execution.succeeded', 'response.completed', 'container.expired'],
    },
  })
  const { signing_secret: secret } = made as { signing_secret: string }
  const container = await client.containers.create({ name: 'hooks' })
  const execution = (await client.post(`/containers/${container.id}/executions`, { body: { code: 'print(1)' } })) as { id: string }
  const response = await client.responses.create({ model: 'demo', input: 'hello' })

  const events = async (): Promise<readonly unknown[]> =>
    Promise.all(
      received.slice(1).map(({ body, headers }) => client.webhooks.unwrap(body, new Headers(headers as Record<string, string>), secret)),
    )
  const wanted = [
    expect.objectContaining({ type: 'execution.succeeded', data: expect.objectContaining({ id: execution.id }) as unknown }),
    expect.objectContaining({ type: 'response.completed', data: { id: response.id } }),
  ] as unknown[]
  await expect.poll(events, { timeout: 60_000, interval: 200 }).toEqual(expect.arrayContaining(wanted))
})
