import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

/** The local subset of S3, as the SDK and a hostile client see it. */
let storage: AwsStorage
let s3: S3Client
const at = (Key: string) => ({ Bucket: 'cellblock', Key })

const clientWith = (change: Partial<S3ClientConfig> = {}): S3Client => {
  const { emulators } = storage
  return new S3Client({
    region: emulators.region,
    endpoint: emulators.endpoints.s3,
    credentials: emulators.credentials,
    forcePathStyle: true,
    maxAttempts: 1,
    ...change,
  })
}
beforeAll(async () => {
  storage = await startAwsStorage()
  s3 = clientWith()
})
afterAll(async () => {
  s3.destroy()
  await storage.stop()
  expect(storage.faults).toEqual([])
})

const textOf = async (Key: string, Range?: string): Promise<string | undefined> =>
  (await s3.send(new GetObjectCommand({ ...at(Key), ...(Range === undefined ? {} : { Range }) }))).Body?.transformToString()

describe('objects', () => {
  it.each(['plain', 'a/b/c', 'a b+c%20d', 'ü/☃/😀', `quotes'"()*!~`, '../../../etc/passwd', '/leading', 'trailing/', 'x'.repeat(1024)])(
    'live under the key %j',
    async (key) => {
      await s3.send(new PutObjectCommand({ ...at(key), Body: key, ContentType: 'text/plain' }))
      expect(await textOf(key)).toBe(key)
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'cellblock', Prefix: key }))
      expect(Contents.map((object) => object.Key)).toContain(key)
      await s3.send(new DeleteObjectCommand(at(key)))
      await expect(s3.send(new HeadObjectCommand(at(key)))).rejects.toMatchObject({ name: 'NotFound' })
    },
  )

  it('never share a file, whatever their keys are', async () => {
    const anyKey = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((key) => key.isWellFormed() && Buffer.byteLength(key) <= 1024 && !/[\p{Cc}\ufffe\uffff]/u.test(key))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyKey, { minLength: 2, maxLength: 4 }), async (keys) => {
        for (const key of keys) await s3.send(new PutObjectCommand({ ...at(`any/${key}`), Body: key }))
        for (const key of keys) expect(await textOf(`any/${key}`)).toBe(key)
      }),
      { numRuns: 30 },
    )
  })

  it('are sent in chunks with a checksum, as the SDK does with streams', async () => {
    const client = clientWith({ requestChecksumCalculation: 'WHEN_SUPPORTED' })
    for (const ChecksumAlgorithm of ['CRC32', 'SHA1', 'SHA256'] as const) {
      const Body = Readable.from([Buffer.alloc(100_000, 'a'), Buffer.alloc(7, 'b')])
      await client.send(new PutObjectCommand({ ...at('chunked'), Body, ContentLength: 100_007, ChecksumAlgorithm }))
      expect(await textOf('chunked', 'bytes=99998-')).toBe('aabbbbbbb')
    }
    await expect(client.send(new PutObjectCommand({ ...at('chunked'), Body: 'x', ChecksumAlgorithm: 'CRC64NVME' }))).rejects.toThrow()
    client.destroy()
  })

  it('with a wrong checksum, hash or length are refused, and the old one stays', async () => {
    await s3.send(new PutObjectCommand({ ...at('checked'), Body: 'old' }))
    const put = (headers: Record<string, string>) => {
      const client = clientWith({ requestChecksumCalculation: 'WHEN_REQUIRED' })
      const command = new PutObjectCommand({ ...at('checked'), Body: 'new' })
      command.middlewareStack.add(
        (next) => (args) => {
          Object.assign((args.request as { headers: Record<string, string> }).headers, headers)
          return next(args)
        },
        { step: 'build', priority: 'low' },
      )
      return client.send(command).finally(() => client.destroy())
    }
    await expect(put({ 'x-amz-checksum-crc32': 'AAAAAA==' })).rejects.toMatchObject({ name: 'BadDigest' })
    await expect(put({ 'x-amz-checksum-sha256': 'AAAA' })).rejects.toMatchObject({ name: 'BadDigest' })
    await expect(put({ 'content-md5': 'AAAA' })).rejects.toMatchObject({ name: 'BadDigest' })
    await expect(put({ 'x-amz-checksum-crc32c': 'AAAAAA==' })).rejects.toMatchObject({ name: 'NotImplemented' })
    await expect(put({ 'x-amz-content-sha256': '0'.repeat(64) })).rejects.toMatchObject({ name: 'XAmzContentSHA256Mismatch' })
    await expect(put({ 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' })).rejects.toMatchObject({ name: 'NotImplemented' })
    await expect(put({ 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' })).rejects.toMatchObject({ name: 'IncompleteBody' })
    expect(await textOf('checked')).toBe('old')
  })

  it('are created once under If-None-Match, by exactly one of many concurrent requests', async () => {
    const put = (body: number) =>
      s3.send(new PutObjectCommand({ ...at('once'), Body: String(body), IfNoneMatch: '*' })).then(
        () => body,
        (error: Error) => error.name,
      )
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => put(index)))
    const [winner] = answers.filter((answer) => typeof answer === 'number')
    expect(answers.filter((answer) => answer === 'PreconditionFailed')).toHaveLength(7)
    expect(await textOf('once')).toBe(String(winner))
  })

  it.each([
    ['bytes=0-0', '0'],
    ['bytes=2-4', '234'],
    ['bytes=7-', '789'],
    ['bytes=-3', '789'],
    ['bytes=-99', '0123456789'],
    ['bytes=8-99', '89'],
    ['bytes=0-1,4-5', '0123456789'],
    ['bytes=5-2', '0123456789'],
    ['chars=1-2', '0123456789'],
    ['bytes=-', '0123456789'],
  ])('give the range %s', async (range, expected) => {
    await s3.send(new PutObjectCommand({ ...at('digits'), Body: '0123456789' }))
    expect(await textOf('digits', range)).toBe(expected)
  })

  it('refuse a range beyond their end', async () => {
    await s3.send(new PutObjectCommand({ ...at('digits'), Body: '0123456789' }))
    await expect(textOf('digits', 'bytes=10-')).rejects.toMatchObject({ name: 'InvalidRange' })
  })

  it('keep their type, and their bytes while they are replaced or deleted under a reader', async () => {
    await s3.send(new PutObjectCommand({ ...at('read'), Body: Buffer.alloc(3_000_000, 'a'), ContentType: 'application/x-test' }))
    const { Body, ContentType } = await s3.send(new GetObjectCommand(at('read')))
    await s3.send(new PutObjectCommand({ ...at('read'), Body: 'short' }))
    await s3.send(new DeleteObjectCommand(at('read')))
    expect(ContentType).toBe('application/x-test')
    expect(await Body?.transformToString()).toBe('a'.repeat(3_000_000))
  })

  it('do not appear when the sender disconnects', async () => {
    const endpoint = storage.emulators.endpoints.s3
    const { host, port: number } = new URL(endpoint)
    const { url } = await storage.objects.presignPut('cut-off', {
      publicUrl: endpoint,
      bytes: 1000,
      contentType: 'text/plain',
      expiresSeconds: 60,
    })
    const send = async (body: string, isWhole: boolean): Promise<void> => {
      const socket = connect(Number(number), '127.0.0.1')
      socket.write(
        `PUT ${url.slice(endpoint.length)} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\nif-none-match: *\r\nconnection: close\r\n\r\n${body}`,
      )
      if (isWhole) await once(socket, 'data')
      socket.destroySoon()
      await once(socket, 'close')
    }
    await send('only this', false)
    expect(await storage.objects.head('cut-off')).toBeNull()
    await send('x'.repeat(1000), true)
    expect(await storage.objects.head('cut-off')).toEqual({ bytes: 1000 })
  })
})

describe('lists', () => {
  it('come page by page, in the order of their bytes', async () => {
    const keys = ['list/a', 'list/a/b', 'list/B', 'list/ä', 'list/z', 'list/😀', 'list/ﬀ'].toSorted((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    )
    for (const key of keys) await s3.send(new PutObjectCommand({ ...at(key), Body: key }))
    const seen: (string | undefined)[] = []
    let ContinuationToken: string | undefined
    do {
      const page = await s3.send(
        new ListObjectsV2Command({
          Bucket: 'cellblock',
          Prefix: 'list/',
          MaxKeys: 2,
          ...(ContinuationToken === undefined ? {} : { ContinuationToken }),
        }),
      )
      seen.push(...(page.Contents ?? []).map((object) => object.Key))
      ContinuationToken = page.NextContinuationToken
    } while (ContinuationToken !== undefined)
    expect(seen).toEqual(keys)
  })
})

describe('uploads in parts', () => {
  const start = async (key: string): Promise<string> =>
    (await s3.send(new CreateMultipartUploadCommand({ ...at(key), ContentType: 'text/x-parts' }))).UploadId ?? ''
  const part = async (key: string, UploadId: string, PartNumber: number, Body: string) => ({
    PartNumber,
    ETag: (await s3.send(new UploadPartCommand({ ...at(key), UploadId, PartNumber, Body }))).ETag,
  })
  const complete = (key: string, UploadId: string, Parts: readonly { PartNumber: number; ETag: string | undefined }[]) =>
    s3.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload: { Parts: [...Parts] } }))

  it('join their parts in order, the newest of each number', async () => {
    const id = await start('parts')
    const third = await part('parts', id, 3, 'three')
    await part('parts', id, 1, 'wrong')
    const first = await part('parts', id, 1, 'one')
    expect(await storage.objects.head('parts')).toBeNull()
    await complete('parts', id, [first, third])
    expect(await textOf('parts')).toBe('onethree')
    expect((await s3.send(new HeadObjectCommand(at('parts')))).ContentType).toBe('text/x-parts')
    await expect(complete('parts', id, [first])).rejects.toMatchObject({ name: 'NoSuchUpload' })
  })

  it('refuse parts that are unknown, in disorder or of another object', async () => {
    const id = await start('refused')
    const [first, second] = [await part('refused', id, 1, 'a'), await part('refused', id, 2, 'b')]
    await expect(complete('refused', id, [first, { PartNumber: 2, ETag: '"other"' }])).rejects.toMatchObject({ name: 'InvalidPart' })
    await expect(complete('refused', id, [second, first])).rejects.toMatchObject({ name: 'InvalidPartOrder' })
    await expect(complete('another', id, [first])).rejects.toMatchObject({ name: 'NoSuchUpload' })
    await expect(part('refused', id, 10_001, 'c')).rejects.toMatchObject({ name: 'InvalidArgument' })
    expect(await storage.objects.head('refused')).toBeNull()
  })

  it('do not exist after they are aborted', async () => {
    const id = await start('aborted')
    const first = await part('aborted', id, 1, 'a')
    await s3.send(new AbortMultipartUploadCommand({ ...at('aborted'), UploadId: id }))
    await expect(complete('aborted', id, [first])).rejects.toMatchObject({ name: 'NoSuchUpload' })
    await expect(part('aborted', id, 2, 'b')).rejects.toMatchObject({ name: 'NoSuchUpload' })
  })
})

describe('requests', () => {
  it('of another key, secret, region or time are refused', async () => {
    const { credentials } = storage.emulators
    const refused: [Partial<S3ClientConfig>, string][] = [
      [{ credentials: { ...credentials, accessKeyId: 'CBOTHER' } }, 'InvalidAccessKeyId'],
      [{ credentials: { ...credentials, secretAccessKey: 'wrong' } }, 'SignatureDoesNotMatch'],
      [{ region: 'eu-west-1' }, 'SignatureDoesNotMatch'],
      [{ systemClockOffset: 16 * 60_000 }, 'RequestTimeTooSkewed'],
      [{ systemClockOffset: -16 * 60_000 }, 'RequestTimeTooSkewed'],
    ]
    for (const [change, name] of refused) {
      const client = clientWith(change)
      await expect(client.send(new PutObjectCommand({ ...at('refused'), Body: 'x' }))).rejects.toMatchObject({ name })
      client.destroy()
    }
  })

  it('are accepted when the clock of the client is a little wrong', async () => {
    const client = clientWith({ systemClockOffset: -14 * 60_000 })
    await expect(client.send(new HeadBucketCommand({ Bucket: 'cellblock' }))).resolves.toBeDefined()
    client.destroy()
  })

  it('beyond the supported subset of S3 are refused', async () => {
    await expect(s3.send(new CopyObjectCommand({ ...at('copy'), CopySource: 'cellblock/digits' }))).rejects.toMatchObject({
      name: 'NotImplemented',
    })
    await expect(s3.send(new ListObjectsV2Command({ Bucket: 'cellblock', Delimiter: '/' }))).rejects.toMatchObject({
      name: 'NotImplemented',
    })
    await expect(s3.send(new CreateBucketCommand({ Bucket: 'Nope_' }))).rejects.toMatchObject({ name: 'InvalidBucketName' })
    await expect(s3.send(new PutObjectCommand({ Bucket: 'nowhere', Key: 'a', Body: 'x' }))).rejects.toMatchObject({ name: 'NoSuchBucket' })
    await expect(s3.send(new GetObjectCommand({ Bucket: 'nowhere', Key: 'a' }))).rejects.toMatchObject({ name: 'NoSuchBucket' })
    await expect(s3.send(new HeadBucketCommand({ Bucket: 'nowhere' }))).rejects.toMatchObject({ name: 'NotFound' })
    await expect(s3.send(new PutObjectCommand({ ...at('x'.repeat(1025)), Body: 'x' }))).rejects.toMatchObject({ name: 'KeyTooLongError' })
  })

  it('get their answer when they are refused before their long body has arrived', async () => {
    const response = await fetch(`${storage.emulators.endpoints.s3}/cellblock/big`, { method: 'PUT', body: Buffer.alloc(30_000_000) })
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('<Code>AccessDenied</Code>')])
  })
})
