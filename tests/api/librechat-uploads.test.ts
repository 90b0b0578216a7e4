import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../support/start-api.ts'

const MiB = 1024 * 1024
/** Bytes that the object store has received. */
let received = 0
let api: TestApi
beforeAll(async () => {
  api = await startApi({
    wrapObjects: (objects) => ({
      ...objects,
      put: (key, body, options) => objects.put(key, body instanceof Uint8Array ? body : counted(body), options),
    }),
  })
})
afterAll(() => api.stop())

async function* counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    received += chunk.byteLength
    yield chunk
  }
}

const head = (name: string): Buffer =>
  Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`)
const part = (name: string, content: Uint8Array): Buffer => Buffer.concat([head(name), content, Buffer.from('\r\n')])
const END = Buffer.from('--b--\r\n')

const send = (body: BodyInit | AsyncIterable<Uint8Array>, path = '/upload/batch'): Promise<Response> =>
  api.fetch(`/librechat/v1${path}`, {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  } as RequestInit)

/** Removes the tenant's objects and returns their number. */
const storedObjects = (): Promise<number> => api.objects.deletePrefix(`tenants/${api.owner.tenant}/`)

it('streams a file to the object store while it arrives', async () => {
  const before = received
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([head('big.bin'), Buffer.alloc(8 * MiB)])
    await expect.poll(() => received - before).toBeGreaterThan(4 * MiB)
    yield Buffer.concat([Buffer.from('end\r\n'), END])
  }
  const answer = await send(slow())
  const { session_id: session, files } = (await answer.json()) as { session_id: string; files: { fileId: string }[] }
  const bytes = await (await api.fetch(`/librechat/v1/download/${session}/${files[0]?.fileId}`)).arrayBuffer()
  expect([answer.status, bytes.byteLength]).toEqual([200, 8 * MiB + 3])
})

it('stores the files after one whose name is refused', async () => {
  const body = Buffer.concat([part('CON', Buffer.alloc(2 * MiB)), part('b.txt', Buffer.from('b')), END])
  expect(await (await send(body)).json()).toMatchObject({
    message: 'partial_success',
    files: [
      { status: 'error', filename: 'CON' },
      { status: 'success', filename: 'b.txt' },
    ],
    succeeded: 1,
    failed: 1,
  })
})

it('names the files that no longer fit into the storage of the account, and keeps the others', async () => {
  const tenant = 'tnt_small'
  const policy = { limits: { storageBytes: MiB } }
  await api.table.tenants.create({ v: 1, id: tenant, name: tenant, createdAt: Date.now(), policy })
  const key = await api.newKey({ tenant })
  const body = Buffer.concat([part('big.bin', Buffer.alloc(3 * MiB)), part('b.txt', Buffer.from('b')), END])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = await api.fetch('/librechat/v1/upload/batch', { method: 'POST', body, headers, key })
  expect(await answer.json()).toMatchObject({
    message: 'partial_success',
    files: [
      { status: 'error', filename: 'big.bin', error: expect.stringContaining('storage_bytes') },
      { status: 'success', filename: 'b.txt' },
    ],
  })
})

it('refuses more bytes, more files, no files and a form that ends too early, and keeps nothing of them', async () => {
  await storedObjects()
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield head('big.bin')
    for (let sent = 0; sent < 60; sent++) yield Buffer.alloc(MiB)
    yield Buffer.concat([Buffer.from('\r\n'), END])
  }
  const tooMany = Array.from({ length: 101 }, (_, index) => part(`${index}.txt`, Buffer.from('x')))
  const cases = {
    large: await send(endless()),
    many: await send(Buffer.concat([...tooMany, END])),
    none: await send(END),
    short: await send(Buffer.concat([part('a.txt', Buffer.from('a')), head('b.txt'), Buffer.from('b')])),
    name: await send(Buffer.concat([part('a.txt', Buffer.from('a')), part('CON', Buffer.from('b')), END]), '/upload'),
  }
  const answers = Object.entries(cases).map(async ([name, answer]) => [
    name,
    answer.status,
    ((await answer.json()) as { error: unknown }).error,
  ])
  expect(await Promise.all(answers)).toEqual([
    ['large', 413, 'session_input_too_large'],
    ['many', 400, 'bad_request'],
    ['none', 400, 'bad_request'],
    ['short', 400, 'bad_request'],
    ['name', 400, 'bad_request'],
  ])
  expect(await storedObjects()).toBe(0)
})
