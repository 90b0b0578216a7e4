import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { KeptDocuments } from '../../../services/http/kept-documents.ts'

const TEXT = 'text '.repeat(1_000)
const asking = (headers: Record<string, string> = {}): Request => new Request('http://localhost/', { headers })
/** Makes the text, and counts how often. */
function maker(type = 'text/plain', headers: Record<string, string> = {}) {
  let made = 0
  return { times: () => made, make: async () => (made++, new Response(TEXT, { headers: { 'content-type': type, ...headers } })) }
}

it('makes a document once for all requests, also for those at the same time', async () => {
  const documents = new KeptDocuments({ most: 10, compresses: true })
  const { make, times } = maker()
  const answers = await Promise.all(Array.from({ length: 50 }, () => documents.answer(asking(), 'a', make)))
  for (const answer of answers) expect(await answer?.text()).toBe(TEXT)
  await documents.answer(asking(), 'a', make)
  expect(times()).toBe(1)
  await documents.answer(asking(), 'b', make)
  expect(times()).toBe(2)
})

it('makes one document at a time', async () => {
  const documents = new KeptDocuments({ most: 10, compresses: true })
  const { make } = maker()
  let [making, most] = [0, 0]
  const slow = async (): Promise<Response> => {
    most = Math.max(most, ++making)
    const made = await make()
    await new Promise((resolve) => setImmediate(resolve))
    making -= 1
    return made
  }
  await Promise.all(Array.from({ length: 20 }, (_, number) => documents.answer(asking(), `document ${number}`, slow)))
  expect(most).toBe(1)
})

it('does not keep what is not there, and not what failed', async () => {
  const documents = new KeptDocuments({ most: 10, compresses: true })
  expect(await documents.answer(asking(), 'a', async () => null)).toBeNull()
  await expect(documents.answer(asking(), 'a', () => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable')
  expect(await (await documents.answer(asking(), 'a', maker().make))?.text()).toBe(TEXT)
})

it.each([
  ['gzip', true],
  ['br, gzip;q=0.5', true],
  ['gzip;q=0', false],
  ['br', false],
])('with Accept-Encoding %s: compressed %s', async (accepted, isCompressed) => {
  const documents = new KeptDocuments({ most: 10, compresses: true })
  const answer = await documents.answer(asking({ 'accept-encoding': accepted }), 'a', maker().make)
  const bytes = Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer())
  expect(answer?.headers.get('content-encoding')).toBe(isCompressed ? 'gzip' : null)
  expect(answer?.headers.get('content-length')).toBe(String(bytes.length))
  expect(answer?.headers.get('vary')).toBe('Accept-Encoding')
  expect((isCompressed ? gunzipSync(bytes) : bytes).toString()).toBe(TEXT)
})

it('compresses neither pictures nor anything behind a distribution that does', async () => {
  const gzip = { 'accept-encoding': 'gzip' }
  const picture = await new KeptDocuments({ most: 10, compresses: true }).answer(asking(gzip), 'a', maker('image/png').make)
  const behind = await new KeptDocuments({ most: 10, compresses: false }).answer(asking(gzip), 'a', maker().make)
  for (const answer of [picture, behind]) expect(answer?.headers.get('content-encoding')).toBeNull()
})

it('answers 304 with the headers that a browser stores again', async () => {
  const documents = new KeptDocuments({ most: 10, compresses: true })
  const { make } = maker('text/html', { 'cache-control': 'no-cache', 'content-security-policy': "default-src 'none'" })
  const etag = (await documents.answer(asking(), 'a', make))?.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
  for (const known of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
    const answer = await documents.answer(asking({ 'if-none-match': known }), 'a', make)
    expect(answer?.status).toBe(304)
    expect(await answer?.text()).toBe('')
    expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'none'",
      etag,
      vary: 'Accept-Encoding',
    })
  }
  expect((await documents.answer(asking({ 'if-none-match': '"other"' }), 'a', make))?.status).toBe(200)
})
