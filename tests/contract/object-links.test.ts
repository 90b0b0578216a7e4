import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../services/ports/object-store.ts'
import { createFileObjectStore } from '../../services/adapters/storage/files/file-object-store.ts'
import { createObjectHandler } from '../../services/adapters/storage/files/object-handler.ts'
import { openObjectFolder } from '../../services/adapters/storage/files/object-folder.ts'
import { signLink, verifyLink } from '../../services/adapters/storage/files/signed-link.ts'
import { tamperObjectLink } from '../support/object-link-mutations.ts'

/** Links as a client uses them: under the API's own port, without a key. */
const SECRET = Buffer.alloc(32, 7)
const KEY = 'tenants/tnt_1/cntr_1/files/abc'
const OTHER = 'tenants/tnt_2/cntr_2/files/abc'
const NEW = 'tenants/tnt_1/cntr_1/files/new'
let folder: string
let server: Server
let publicUrl: string
let objects: ObjectStore
let skew = 0
const faults: unknown[] = []
const now = (): number => Date.now() + skew

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
  const files = await openObjectFolder(folder, { isDurable: false })
  objects = createFileObjectStore({ folder: files, secret: SECRET, now })
  server = createServer(createObjectHandler({ folder: files, secret: SECRET, now, onError: (error) => void faults.push(error) }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await objects.put(KEY, Buffer.from('<b>hello</b>'), { contentType: 'text/html' })
  await objects.put(OTHER, Buffer.from('secret'), { contentType: 'text/plain' })
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true })
  expect(faults).toEqual([])
})
beforeEach(() => void (skew = 0))

const link = (
  change: { readonly filename?: string; readonly contentType?: string; readonly expiresSeconds?: number } = {},
): Promise<string> =>
  objects.presignGet(KEY, { publicUrl, filename: 'report.csv', contentType: 'text/csv', expiresSeconds: 300, ...change })
const uploadLink = (bytes: number) => objects.presignPut(NEW, { publicUrl, bytes, contentType: 'text/csv', expiresSeconds: 60 })
const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { readonly error: { readonly code: string } }).error.code

/** Sends the path exactly as written, which fetch would normalise. */
async function send(url: string, method: string): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, port, origin } = new URL(url)
  const outgoing = request({ hostname, port, path: url.slice(origin.length), method })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await text(response) }
}

describe('a signed link', () => {
  it('returns the bytes as a download of the signed type that no browser runs', async () => {
    const response = await fetch(await link())
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('<b>hello</b>')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/csv',
      'content-length': '12',
      'content-disposition': `attachment; filename="report.csv"; filename*=UTF-8''report.csv`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'referrer-policy': 'no-referrer',
    })
  })

  it.each(['text/javascript', 'application/x-javascript; charset=utf-8', 'text/JScript', 'application/ecmascript', 'text/livescript'])(
    'sends %s as text, because the page trusts scripts of its origin',
    async (contentType) => {
      const { headers } = await fetch(await link({ contentType }))
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    },
  )

  it('keeps a hostile file name inside its quotes', async () => {
    const response = await fetch(await link({ filename: `a"; filename=evil.html\r\nx: y'()*` }))
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="a__ filename=evil.html__x: y'()*"; filename*=UTF-8''a%22%3B%20filename%3Devil.html%0D%0Ax%3A%20y%27%28%29%2A`,
    )
  })

  it('works for a range, and for a client that sends its API key as well', async () => {
    const range = await fetch(await link(), { headers: { range: 'bytes=3-7' } })
    expect([range.status, await range.text(), range.headers.get('content-range')]).toEqual([206, 'hello', 'bytes 3-7/12'])
    const beyond = await fetch(await link(), { headers: { range: 'bytes=50-' } })
    expect([beyond.status, await codeOf(beyond)]).toEqual([416, 'range_not_satisfiable'])
    expect((await fetch(await link(), { headers: { authorization: 'Bearer ck_x' } })).status).toBe(200)
  })

  it('is refused in every changed form, and reveals nothing', async () => {
    const forms = tamperObjectLink(await link())
    expect(forms.length).toBeGreaterThanOrEqual(60)
    expect(new Set(forms.map(({ url, method }) => `${method} ${url}`)).size).toBe(forms.length)
    for (const { name, url, method } of forms) {
      const { status, body } = await send(url, method)
      expect({ name, status, shows: /hello|secret|Error:/.test(body) }).toEqual({ name, status: 403, shows: false })
    }
    expect([await objects.head(KEY), await objects.head(OTHER)]).toEqual([{ bytes: 12 }, { bytes: 6 }])
  })

  it('is refused under another secret', async () => {
    const token = (await link()).split('/').at(-1) ?? ''
    expect(verifyLink(token, SECRET, now())).toHaveProperty('claims')
    expect(verifyLink(token, Buffer.alloc(32, 8), now())).toEqual({ refusal: 'bad_signature' })
  })

  it('works one second before it expires and not one second after', async () => {
    const url = await link({ expiresSeconds: 300 })
    skew = 299_000
    expect((await fetch(url)).status).toBe(200)
    skew = 301_000
    const response = await fetch(url)
    expect([response.status, await codeOf(response)]).toEqual([403, 'link_expired'])
  })

  it('is refused when it expires later than five minutes from now, although it is signed', async () => {
    const claims = { method: 'GET', key: KEY, contentType: 'text/csv', disposition: 'attachment' } as const
    const at = (expiresAt: number) => verifyLink(signLink({ ...claims, expiresAt }, SECRET), SECRET, 1_000_000)
    expect(at(1_300_000)).toHaveProperty('claims')
    expect(at(1_301_000)).toEqual({ refusal: 'expired' })
  })

  it('to a deleted object says so', async () => {
    const url = await objects.presignGet('tenants/tnt_1/none', { publicUrl, filename: 'a', contentType: 'text/plain', expiresSeconds: 60 })
    const response = await fetch(url)
    expect([response.status, await codeOf(response)]).toEqual([404, 'file_not_found'])
  })
})

describe('a signed upload', () => {
  beforeEach(() => objects.delete(NEW))

  it('stores the promised bytes of the promised type, once', async () => {
    const { url, headers } = await uploadLink(3)
    const put = (body: string) => fetch(url, { method: 'PUT', body, headers: { ...headers } })
    expect((await put('abc')).status).toBe(200)
    const again = await put('xyz')
    expect([again.status, await codeOf(again)]).toEqual([412, 'conflict'])
    expect(await objects.head(NEW)).toEqual({ bytes: 3 })
  })

  it.each<[string, string, Record<string, string>]>([
    ['more bytes', 'abcd', { 'content-type': 'text/csv', 'if-none-match': '*' }],
    ['fewer bytes', 'ab', { 'content-type': 'text/csv', 'if-none-match': '*' }],
    ['another type', 'abc', { 'content-type': 'text/html', 'if-none-match': '*' }],
    ['no If-None-Match', 'abc', { 'content-type': 'text/csv' }],
    ['another If-None-Match', 'abc', { 'content-type': 'text/csv', 'if-none-match': '"x"' }],
  ])('with %s is refused', async (_, body, headers) => {
    const { url } = await uploadLink(3)
    expect((await fetch(url, { method: 'PUT', body, headers })).status).toBe(403)
    expect(await objects.head(NEW)).toBeNull()
  })

  it('keeps nothing when the connection ends early', async () => {
    const { url, headers } = await uploadLink(1_000)
    const { hostname, port, pathname } = new URL(url)
    const outgoing = request({ hostname, port, path: pathname, method: 'PUT', headers })
    const closed = once(outgoing, 'error')
    outgoing.write('x'.repeat(500), () => outgoing.destroy(new Error('gone')))
    await closed
    expect(await objects.head(NEW)).toBeNull()
  })

  it('gives no right to read', async () => {
    const { url } = await uploadLink(3)
    expect((await fetch(url)).status).toBe(403)
  })
})
