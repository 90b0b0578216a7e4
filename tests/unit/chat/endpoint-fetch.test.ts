import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEndpointFetch } from '../../../services/adapters/models/endpoint-fetch.ts'

/** Sends the head and one event; the answer ends there unless the path is `/silent`. */
const endpoint = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
  if (request.url !== '/silent') response.end()
})
let url: string
let connections = 0
endpoint.on('connection', () => (connections += 1))
beforeAll(async () => {
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`
})
afterAll(() => {
  endpoint.closeAllConnections()
  endpoint.close()
})

it('keeps the connection of an answer that ended before its call was aborted', async () => {
  const fetch = createEndpointFetch()
  const call = new AbortController()
  const first = await fetch(url, { method: 'POST', body: '{}', signal: call.signal })
  await first.text()
  call.abort(new Error('The turn was cancelled.'))
  await (await fetch(url, { method: 'POST', body: '{}' })).text()
  expect(connections).toBe(1)
})

it('gives an abort between two reads to the next read', async () => {
  const call = new AbortController()
  const { body } = await createEndpointFetch()(`${url}/silent`, { method: 'POST', body: '{}', signal: call.signal })
  const reader = body?.getReader()
  await reader?.read()
  call.abort(new Error('The turn was cancelled.'))
  await expect(reader?.read()).rejects.toThrow('The turn was cancelled.')
})

it('asks for an answer without compression, unless the caller names one', async () => {
  const asked: (string | undefined)[] = []
  const note = ({ headers }: IncomingMessage): void => void asked.push(headers['accept-encoding'])
  endpoint.on('request', note)
  const fetch = createEndpointFetch()
  for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) await (await fetch(url, { method: 'POST', body: '{}', headers })).text()
  endpoint.off('request', note)
  expect(asked).toEqual(['identity', 'gzip'])
})
