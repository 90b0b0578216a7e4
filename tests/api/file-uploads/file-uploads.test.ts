import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepUpload } from '../../../services/workers/reconcile/sweep-expired.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const whole = Buffer.concat([Buffer.alloc(6_000_000, 'first'), Buffer.alloc(2_000_000, 'second'), Buffer.from('third')])
const pieces = [whole.subarray(0, 6_000_000), whole.subarray(6_000_000, 8_000_000), whole.subarray(8_000_000)]

const begin = (bytes = whole.length) =>
  api.openai().uploads.create({ filename: 'big.bin', bytes, mime_type: 'application/octet-stream', purpose: 'user_data' })
const addPart = async (uploadId: string, bytes: Uint8Array): Promise<string> =>
  (await api.openai().uploads.parts.create(uploadId, { data: new File([Buffer.from(bytes)], 'part') })).id
/** Sent concurrently in any order. */
const addAll = (uploadId: string): Promise<string[]> => Promise.all(pieces.map((piece) => addPart(uploadId, piece)))

describe('an upload in parts', () => {
  it('becomes one file in the order given at completion', async () => {
    const client = api.openai()
    const upload = await begin()
    expect(upload).toMatchObject({ object: 'upload', status: 'pending', bytes: whole.length, filename: 'big.bin', purpose: 'user_data' })
    const ids = await addAll(upload.id)
    const md5 = createHash('md5').update(whole).digest('hex')
    const done = await client.uploads.complete(upload.id, { part_ids: ids, md5 })
    expect(done).toMatchObject({ status: 'completed', file: { bytes: whole.length, filename: 'big.bin', status: 'processed' } })
    const content = await client.files.content(done.file?.id ?? '')
    expect(Buffer.from(await content.arrayBuffer()).equals(whole)).toBe(true)
    const parts = await api.table.uploads.parts(api.owner.tenant, upload.id)
    expect(await Promise.all(parts.map((part) => api.objects.head(part.objectKey)))).toEqual([null, null, null])
  })

  it('becomes one file after repeated completions', async () => {
    const client = api.openai()
    const upload = await begin()
    const part_ids = await addAll(upload.id)
    const done = await Promise.all([1, 2].map(() => client.uploads.complete(upload.id, { part_ids })))
    const again = await client.uploads.complete(upload.id, { part_ids })
    expect(new Set([...done, again].map(({ file }) => file?.id)).size).toBe(1)
    const content = await client.files.content(again.file?.id ?? '')
    expect(Buffer.from(await content.arrayBuffer()).equals(whole)).toBe(true)
  })

  it('can be completed again after a refused completion', async () => {
    const client = api.openai()
    const upload = await begin()
    const [a, b, c] = (await addAll(upload.id)) as [string, string, string]
    await expect(client.uploads.complete(upload.id, { part_ids: [a, b] })).rejects.toMatchObject({ status: 400, param: 'part_ids' })
    await expect(client.uploads.complete(upload.id, { part_ids: [a, a, c] })).rejects.toMatchObject({ status: 400, param: 'part_ids[1]' })
    await expect(
      client.uploads.complete(upload.id, { part_ids: [b, a, c], md5: createHash('md5').update(whole).digest('hex') }),
    ).rejects.toMatchObject({ status: 400, param: 'md5' })
    expect((await client.uploads.complete(upload.id, { part_ids: [a, b, c] })).status).toBe('completed')
  })

  it('accepts no more bytes than declared', async () => {
    const upload = await begin(5)
    await expect(addPart(upload.id, Buffer.from('123456'))).rejects.toMatchObject({ status: 400, param: 'data' })
    await addPart(upload.id, Buffer.from('12345'))
    await expect(addPart(upload.id, Buffer.from('6'))).rejects.toMatchObject({ status: 400, param: 'data' })
  })

  it('accepts nothing after its cancellation', async () => {
    const client = api.openai()
    const upload = await begin(5)
    const id = await addPart(upload.id, Buffer.from('12345'))
    expect((await client.uploads.cancel(upload.id)).status).toBe('cancelled')
    expect((await client.uploads.cancel(upload.id)).status).toBe('cancelled')
    await expect(addPart(upload.id, Buffer.from('1'))).rejects.toMatchObject({ status: 400 })
    await expect(client.uploads.complete(upload.id, { part_ids: [id] })).rejects.toMatchObject({ status: 400 })
    expect((await client.files.list()).data.map((file) => file.bytes)).not.toContain(5)
  })

  it('is removed with its parts when it expires', async () => {
    const upload = await begin(5)
    await addPart(upload.id, Buffer.from('12345'))
    const { tenant } = api.owner
    const [part] = await api.table.uploads.parts(tenant, upload.id)
    const [due] = (await api.table.due(upload.expires_at * 1000 + 1000, 100)).filter(({ id }) => id === upload.id)
    if (part === undefined || due === undefined) throw new Error('nothing to sweep')
    await sweepUpload(api, due)
    expect(await api.objects.head(part.objectKey)).toBeNull()
    expect(await api.table.uploads.get(tenant, upload.id)).toBeNull()
  })
})
