import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { receiveMultipart } from '../../../services/http/receive-multipart.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { newObjectKey } from '../../../services/model/object-keys.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let path: string
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'files' })).id
  path = `/v1/containers/${containerId}/files`
})
afterAll(() => api.stop())

const part = (filename: string, body = 'x'): string =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n${body}\r\n--b--\r\n`
const raw = (body: string, type = 'multipart/form-data; boundary=b'): Promise<Response> =>
  api.fetch(path, { method: 'POST', body, headers: { 'content-type': type } })
const refusal = async (answer: Response): Promise<unknown> => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

it.for(['../../x', '/etc/passwd', 'a//b', 'a/./b', 'n'.repeat(300), 'CON', 'a\u202Eb.txt', 'dot.', ''])(
  'refuses the file name %j',
  async (name) => {
    expect(await refusal(await raw(part(name)))).toEqual([400, 'invalid_file_name'])
  },
)

it('stores no bytes when it refuses', async () => {
  await raw(part('../x'))
  expect(await api.objects.deletePrefix(`tenants/${api.owner.tenant}/`)).toBe(0)
})

it('refuses a form without a file, boundary or body, and an incomplete form', async () => {
  expect(await refusal(await raw('--b\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--b--\r\n'))).toEqual([
    400,
    'invalid_request',
  ])
  expect(await refusal(await raw(part('a.txt').slice(0, -8)))).toEqual([400, 'invalid_request'])
  expect(await refusal(await raw(part('a.txt'), 'multipart/form-data'))).toEqual([400, 'invalid_request'])
  expect(await refusal(await raw('', 'multipart/form-data; boundary=b'))).toEqual([400, 'invalid_request'])
})

it('refuses a form with two files and stores neither', async () => {
  const two = part('a.txt').replace('--b--\r\n', '') + part('b.txt')
  expect(await refusal(await raw(two))).toEqual([400, 'invalid_request'])
  expect(await api.objects.deletePrefix(`tenants/${api.owner.tenant}/`)).toBe(0)
})

it('refuses other types and compressed forms', async () => {
  expect(await refusal(await raw('x', 'text/csv'))).toEqual([415, 'unsupported_media_type'])
  const answer = await api.fetch(path, {
    method: 'POST',
    body: part('a'),
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' },
  })
  expect(await refusal(answer)).toEqual([415, 'unsupported_media_type'])
})

it('refuses a copy of a missing file', async () => {
  expect(await refusal(await api.post(path, { file_id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt' }))).toEqual([404, 'file_not_found'])
  expect(await refusal(await api.post(path, {}))).toEqual([400, 'invalid_request'])
})

it('refuses a file over the size limit without a declared length before it has read all of it', async () => {
  const rules = { maxBytes: 4 * 1024 * 1024, part: 'file', advice: 'Split it.' }
  const chunk = Buffer.alloc(1024 * 1024)
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(part('big.bin', '').slice(0, part('big.bin', '').indexOf('\r\n\r\n') + 4))),
    pull: (controller) => {
      sent += chunk.byteLength
      if (sent > 16 * rules.maxBytes) controller.close()
      else controller.enqueue(chunk)
    },
  })
  const form = new Request(api.url, {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  } as RequestInit)
  const objectKey = newObjectKey(api.owner.tenant, 'files', 'cntr_x')
  await expect(receiveMultipart(api.objects, form, { objectKey, rules })).rejects.toMatchObject({ code: 'request_too_large' })
  expect(sent).toBeLessThan(2 * rules.maxBytes)
  expect(await api.objects.deletePrefix(`tenants/${api.owner.tenant}/`)).toBe(0)
})

it('returns 413 for the declared length alone', async () => {
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${api.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.owner.key}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': LIMITS.maxMultipartFileBytes + 1024 * 1024,
        expect: '100-continue',
      },
    })
    outgoing.on('response', (answer) => resolve(answer.statusCode)).on('error', reject)
    outgoing.flushHeaders()
  })
  expect(status).toBe(413)
})

it('replies to ids of other tenants as to missing ids', async () => {
  const file = await api.openai().containers.files.create(containerId, { file: new File(['x'], 'mine.txt') })
  const theirs = (await api.openai(api.otherTenant).containers.create({ name: 'theirs' })).id
  for (const suffix of ['', '/content']) {
    const answers = await Promise.all([
      api.fetch(`/v1/containers/${theirs}/files/${file.id}${suffix}`, { key: api.otherTenant }),
      api.fetch(`/v1/containers/${theirs}/files/cfile_01kajv9h2s8p0ww3d4dq4cs1zt${suffix}`, { key: api.otherTenant }),
      api.fetch(`${path}/${file.id}${suffix}`, { key: api.otherTenant }),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404])
    const [mine, none] = (await Promise.all(answers.map((answer) => answer.text()))).map((text) =>
      text.replaceAll(/c(file|ntr)_\w+/g, 'ID').replaceAll(/req_\w+/g, 'REQ'),
    )
    expect(mine).toBe(none)
  }
})

it('stores nothing of aborted uploads and releases their connections', async () => {
  const statuses = () => api.events.filter(({ route }) => route !== 'getHealth').map(({ status }) => status)
  const before = statuses().length
  const { port } = new URL(api.url)
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${api.owner.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n`
  const breakOff = (bytes: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        // The server has begun to read it when it answers a later request.
        socket.write(head + part('broken.bin', 'x'.repeat(bytes)).slice(0, bytes), () => {
          void api.fetch('/healthz').then(() => resolve(void socket.destroy()))
        })
      })
    })
  for (const bytes of [0, 100, 10_000, 200_000]) await breakOff(bytes)
  await expect.poll(() => statuses().length, { timeout: 10_000 }).toBe(before + 4)
  expect(statuses().slice(before)).toEqual([499, 499, 499, 499])
  const list = (await (await api.fetch(path)).json()) as { data: { path: string }[] }
  expect(list.data.map((file) => file.path)).not.toContain('/mnt/data/broken.bin')
})
