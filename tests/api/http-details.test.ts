import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '../../services/model/limits.ts'
import { createLink } from '../../services/operations/links/create-link.ts'
import { startApi, type TestApi } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

it('answers health probes of HTTP/1.0, which have no Host header', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8')
  socket.write('GET /healthz HTTP/1.0\r\n\r\n')
  let answer = ''
  for await (const piece of socket as AsyncIterable<string>) answer += piece
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
})

it('compresses the OpenAPI document for clients that accept it', async () => {
  const outgoing = request(`${api.url}/openapi.json`, { headers: { 'accept-encoding': 'gzip' } }).end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const bytes = Buffer.concat(await incoming.toArray())
  expect(incoming.headers['content-encoding']).toBe('gzip')
  const text = gunzipSync(bytes).toString()
  expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.0' })
  expect(bytes.length).toBeLessThan(text.length / 4)
})

it('has its headers on redirects, and 304 for bytes that the client has', async () => {
  const file = await api.openai().files.create({ file: new File(['once'], 'a.txt'), purpose: 'user_data' })
  const redirect = await api.fetch(`/v1/files/${file.id}/content`)
  expect(redirect.status).toBe(302)
  expect(redirect.headers.get('x-request-id')).toMatch(/^req_/)
  expect(redirect.headers.get('openai-version')).toBe('2020-10-01')
  expect(Number(redirect.headers.get('openai-processing-ms'))).toBeGreaterThanOrEqual(0)

  const first = await api.fetch(`/v1/files/${file.id}/content`, { redirect: 'follow' })
  const etag = first.headers.get('etag') ?? ''
  expect(await first.text()).toBe('once')
  const again = (headers: Record<string, string>) => api.fetch(`/v1/files/${file.id}/content`, { redirect: 'follow', headers })
  expect((await again({ 'if-none-match': etag })).status).toBe(304)
  expect((await again({ 'if-none-match': '"other"' })).status).toBe(200)
})

it('answers HEAD with size and type, for files and for links', async () => {
  const client = api.openai()
  const { id } = await client.containers.create({ name: 'head' })
  const made = await client.containers.files.create(id, { file: new File(['12345'], 'a.csv') })
  const row = await api.table.files.get(api.owner.tenant, id, made.id)
  if (row === null) throw new Error('no file')
  const target = { objectKey: row.objectKey, filename: 'a.csv', mime: 'text/csv', bytes: 5 }
  const { url } = await createLink(
    api.table.links,
    { tenant: api.owner.tenant, containerId: id, fileId: made.id, target, publicUrl: api.url, days: 1 },
    api.now(),
  )
  for (const address of [`/v1/containers/${id}/files/${made.id}/content`, new URL(url).pathname]) {
    const answer = await api.fetch(address, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-length')).toBe('5')
    expect(answer.headers.get('content-type')).toBe('text/csv')
  }
})

it('takes inline files above the size of other JSON bodies, with an announced length', async () => {
  const data = `data:application/octet-stream;base64,${'A'.repeat(LIMITS.maxJsonBytes)}`
  const input = [{ role: 'user' as const, content: [{ type: 'input_file' as const, filename: 'a.bin', file_data: data }] }]
  const response = await api.openai().responses.create({ model: 'demo', input, background: true })
  expect(response.status).toBe('queued')
  const tooLarge = { model: 'demo', input: 'x'.repeat(LIMITS.maxTurnJsonBytes) }
  expect((await api.post('/v1/responses', tooLarge)).status).toBe(413)
  expect((await api.post('/v1/containers', { name: 'x'.repeat(LIMITS.maxJsonBytes) })).status).toBe(413)
})
