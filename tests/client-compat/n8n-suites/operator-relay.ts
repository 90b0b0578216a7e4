import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTenant } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'

/** The key with which n8n's specs act as the operator. */
export const OPERATOR_KEY = 'test-operator-key'

/**
 * n8n's specs address the root of a host, and create tenants by routes of n8n's operator. The relay passes everything to `/n8n` of the server, and
 * creates tenants as Cellblock's operator does; its own key is that of a further tenant.
 */
export async function startOperatorRelay(server: LocalServerProcess): Promise<{ readonly url: string; stop(): void }> {
  const operatorKey = await createTenant(server, 'operator')
  const relay = createServer((request, response) => {
    if (request.url?.startsWith('/admin/tenants') === true) return void administer(request, response)
    const key = request.headers['x-api-key']
    const headers = { ...request.headers, ...(key === OPERATOR_KEY && { 'x-api-key': operatorKey }) }
    const onwards = send(`${server.url}/n8n${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onwards.on('error', () => response.destroy())
    response.on('close', () => onwards.destroy())
    request.pipe(onwards)
  })

  async function administer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    const isOperator = request.headers['x-api-key'] === OPERATOR_KEY
    const answer = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (!isOperator) return answer(403, { error: 'forbidden' })
    if (request.method !== 'POST') return answer(request.method === 'DELETE' ? 204 : 200, [])
    const id = randomUUID()
    answer(201, { tenant: { id }, key: { api_key: await createTenant(server, id) } })
  }

  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    stop() {
      relay.close()
      relay.closeAllConnections()
    },
  }
}
