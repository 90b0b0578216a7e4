import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

/** Links as a client uses them, without a key. They check the S3 adapter and the S3 emulator. */
let storage: AwsStorage
const KEY = 'tenants/tnt_1/cntr_1/files/abc'
const OTHER = 'tenants/tnt_2/cntr_2/files/abc'

beforeAll(async () => {
  storage = await startAwsStorage()
  await storage.objects.put(KEY, Buffer.from('<b>hello</b>'), { contentType: 'text/html' })
  await storage.objects.put(OTHER, Buffer.from('secret'), { contentType: 'text/plain' })
})
afterAll(async () => {
  await storage.stop()
  expect(storage.faults).toEqual([])
})

const link = (change: { readonly filename?: string; readonly expiresSeconds?: number } = {}): Promise<string> =>
  storage.objects.presignGet(KEY, {
    publicUrl: storage.emulators.endpoints.s3,
    filename: 'report.csv',
    contentType: 'text/csv',
    expiresSeconds: 300,
    ...change,
  })
const uploadLink = (bytes: number) =>
  storage.objects.presignPut('tenants/tnt_1/cntr_1/files/new', {
    publicUrl: storage.emulators.endpoints.s3,
    bytes,
    contentType: 'text/csv',
    expiresSeconds: 60,
  })
const changed = async (change: (url: URL) => void): Promise<URL> => {
  const url = new URL(await link())
  change(url)
  return url
}
const codeOf = async (response: Response): Promise<string | undefined> => /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1]

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

  it.each([
    [
      'Bericht für März 😀.csv',
      `attachment; filename="Bericht f_r M_rz __.csv"; filename*=UTF-8''Bericht%20f%C3%BCr%20M%C3%A4rz%20%F0%9F%98%80.csv`,
    ],
    [
      `a"; filename=evil.html\r\nx: y'()*`,
      `attachment; filename="a__ filename=evil.html__x: y'()*"; filename*=UTF-8''a%22%3B%20filename%3Devil.html%0D%0Ax%3A%20y%27%28%29%2A`,
    ],
  ])('quotes the file name %j safely', async (filename, expected) => {
    const response = await fetch(await link({ filename }))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toBe(expected)
  })

  it('works for a range, and for a client that sends its API key as well', async () => {
    const range = await fetch(await link(), { headers: { range: 'bytes=3-7' } })
    expect([range.status, await range.text(), range.headers.get('content-range')]).toEqual([206, 'hello', 'bytes 3-7/12'])
    expect((await fetch(await link(), { headers: { authorization: 'Bearer ck_x' } })).status).toBe(200)
  })

  it.each<[string, (url: URL) => void]>([
    ['another key', (url) => (url.pathname = url.pathname.replace('tnt_1/cntr_1', 'tnt_2/cntr_2'))],
    ['another bucket', (url) => (url.pathname = url.pathname.replace('/cellblock/', '/cellblock2/'))],
    ['dots in its path', (url) => (url.pathname = url.pathname.replace('/files/', '/files/%2e%2e/'))],
    ['another type', (url) => url.searchParams.set('response-content-type', 'text/html')],
    ['a second type', (url) => (url.search += '&response-content-type=text%2Fhtml')],
    ['another disposition', (url) => url.searchParams.set('response-content-disposition', 'inline')],
    ['no disposition', (url) => url.searchParams.delete('response-content-disposition')],
    ['an override more', (url) => url.searchParams.set('response-cache-control', 'public')],
    ['a longer life', (url) => url.searchParams.set('X-Amz-Expires', '604800')],
    ['a later date', (url) => url.searchParams.set('X-Amz-Date', '20991231T000000Z')],
    ['a date that is none', (url) => url.searchParams.set('X-Amz-Date', 'yesterday')],
    ['another access key', (url) => url.searchParams.set('X-Amz-Credential', 'CBOTHER/20260101/us-east-1/aws4_request')],
    [
      'another region',
      (url) => url.searchParams.set('X-Amz-Credential', (url.searchParams.get('X-Amz-Credential') ?? '').replace('us-east-1', 'eu-west-1')),
    ],
    ['a signature with one digit changed', (url) => flipLastDigit(url)],
    ['an empty signature', (url) => url.searchParams.set('X-Amz-Signature', '')],
    ['no signature', (url) => url.searchParams.delete('X-Amz-Signature')],
    ['fewer signed headers', (url) => url.searchParams.set('X-Amz-SignedHeaders', '')],
    ['more signed headers', (url) => url.searchParams.set('X-Amz-SignedHeaders', 'accept;host')],
    ['another algorithm', (url) => url.searchParams.set('X-Amz-Algorithm', 'none')],
    ['an upload of parts', (url) => url.searchParams.set('uploads', '')],
  ])('with %s is refused and reveals nothing', async (_, change) => {
    const response = await fetch(await changed(change))
    expect([400, 403]).toContain(response.status)
    expect(await codeOf(response)).toMatch(/^(SignatureDoesNotMatch|AccessDenied|InvalidAccessKeyId|InvalidArgument|InvalidRequest)$/)
  })

  it.each(['PUT', 'DELETE', 'POST', 'HEAD'])('for reading is refused for %s', async (method) => {
    const response = await fetch(await link(), { method, ...(method === 'PUT' || method === 'POST' ? { body: 'x' } : {}) })
    expect(response.status).toBe(403)
    expect(await storage.objects.head(KEY)).toEqual({ bytes: 12 })
  })

  it('with an unsigned header that S3 would apply is refused', async () => {
    const response = await fetch(await link(), { headers: { 'x-amz-copy-source': `/cellblock/${OTHER}` } })
    expect([response.status, await codeOf(response)]).toEqual([403, 'AccessDenied'])
  })

  it('is refused once it has expired', async () => {
    const url = await link({ expiresSeconds: 1 })
    await expect.poll(async () => (await fetch(url)).status, { timeout: 5_000 }).toBe(403)
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('Request has expired')])
  })

  it('to a deleted object returns only not found', async () => {
    const url = await storage.objects.presignGet('tenants/tnt_1/none', {
      publicUrl: storage.emulators.endpoints.s3,
      filename: 'a',
      contentType: 'text/plain',
      expiresSeconds: 60,
    })
    const response = await fetch(url)
    expect([response.status, await codeOf(response)]).toEqual([404, 'NoSuchKey'])
  })
})

describe('a signed upload', () => {
  it('stores the promised bytes of the promised type, once', async () => {
    const { url, headers } = await uploadLink(3)
    const put = (body: string) => fetch(url, { method: 'PUT', body, headers: { ...headers } })
    expect((await put('abc')).status).toBe(200)
    const again = await put('xyz')
    expect([again.status, await codeOf(again)]).toEqual([412, 'PreconditionFailed'])
    expect(await bytesAt('tenants/tnt_1/cntr_1/files/new')).toBe('abc')
  })

  it('must include the condition that the object is new', async () => {
    const { url, headers } = await uploadLink(3)
    const { 'if-none-match': _, ...rest } = headers
    expect((await fetch(url, { method: 'PUT', body: 'xyz', headers: rest })).status).toBe(403)
    expect(await bytesAt('tenants/tnt_1/cntr_1/files/new')).toBe('abc')
  })

  it.each<[string, string, Record<string, string>]>([
    ['more bytes', 'abcd', { 'content-type': 'text/csv', 'if-none-match': '*' }],
    ['fewer bytes', 'ab', { 'content-type': 'text/csv', 'if-none-match': '*' }],
    ['another type', 'abc', { 'content-type': 'text/html', 'if-none-match': '*' }],
    [
      'a header that S3 would obey',
      'abc',
      { 'content-type': 'text/csv', 'if-none-match': '*', 'x-amz-copy-source': `/cellblock/${OTHER}` },
    ],
  ])('with %s is refused', async (_, body, headers) => {
    await storage.objects.delete('tenants/tnt_1/cntr_1/files/new')
    const { url } = await uploadLink(3)
    const response = await fetch(url, { method: 'PUT', body, headers })
    expect(response.status).toBe(403)
    expect(await storage.objects.head('tenants/tnt_1/cntr_1/files/new')).toBeNull()
  })

  it('gives no right to read', async () => {
    const { url } = await uploadLink(3)
    expect((await fetch(url)).status).toBe(403)
  })
})

describe('without a signature', () => {
  it.each(['/cellblock', `/cellblock/${KEY}`, '/', '/', '/%zz', '/cellblock/../../etc/passwd'])('%s is refused', async (path) => {
    const response = await fetch(`${storage.emulators.endpoints.s3}${path}`)
    expect([400, 403]).toContain(response.status)
    expect(response.headers.get('content-type')).toBe('application/xml')
  })
})

function flipLastDigit(url: URL): void {
  const signature = url.searchParams.get('X-Amz-Signature') ?? ''
  url.searchParams.set('X-Amz-Signature', signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0'))
}

async function bytesAt(key: string): Promise<string> {
  const object = await storage.objects.get(key)
  const chunks: Uint8Array[] = []
  for await (const chunk of object?.body ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
