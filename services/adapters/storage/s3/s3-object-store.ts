import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { ByteStream } from '../../../model/byte-stream.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { attachment } from '../objects/content-disposition.ts'
import { headerType } from '../objects/header-type.ts'
import { linkLifetime } from '../objects/link-lifetime.ts'
import { putStream } from './put-stream.ts'

interface Bucket {
  readonly client: S3Client
  readonly bucket: string
}

const at = (bucket: string, key: string) => ({ Bucket: bucket, Key: key })

/** Objects in one S3 bucket. Presigned links go to S3 itself. */
export const createS3ObjectStore = (bucket: Bucket): ObjectStore => ({
  ...objectVerbs(bucket),
  ...prefixVerbs(bucket),
  ...linkVerbs(bucket),
  async check() {
    await bucket.client.send(new HeadBucketCommand({ Bucket: bucket.bucket }))
  },
})

function objectVerbs({ client, bucket }: Bucket): Pick<ObjectStore, 'put' | 'get' | 'head' | 'delete'> {
  return {
    async put(key, body, { contentType: named, bytes }) {
      const contentType = headerType(named)
      if (!(body instanceof Uint8Array)) return putStream(client, { ...at(bucket, key), contentType, body, bytes })
      await client.send(new PutObjectCommand({ ...at(bucket, key), Body: body, ContentType: contentType }))
      return { bytes: body.byteLength }
    },

    async get(key) {
      const answer = await unlessMissing(client.send(new GetObjectCommand(at(bucket, key))))
      if (answer === null) return null
      if (answer.Body === undefined || answer.ContentLength === undefined)
        throw new Error('S3 sent an object without its body or its length.')
      return { body: answer.Body as unknown as ByteStream, bytes: answer.ContentLength }
    },

    async head(key) {
      const answer = await unlessMissing(client.send(new HeadObjectCommand(at(bucket, key))))
      return answer === null ? null : { bytes: answer.ContentLength ?? 0 }
    },

    async delete(key) {
      await client.send(new DeleteObjectCommand(at(bucket, key)))
    },
  }
}

function prefixVerbs({ client, bucket }: Bucket): Pick<ObjectStore, 'deletePrefix' | 'sizeOf'> {
  return {
    async deletePrefix(prefix, isOver = () => false) {
      let deleted = 0
      for (;;) {
        const { Contents = [], IsTruncated } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }))
        if (Contents.length === 0) return deleted
        const Objects = Contents.map(({ Key }) => ({ Key }))
        const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
        if (Errors.length > 0)
          throw new Error(`S3 kept ${Errors.length} of the objects to delete: ${Errors[0]?.Code ?? 'no reason given'}. Try again.`)
        deleted += Objects.length
        if (IsTruncated !== true || isOver()) return deleted
      }
    },

    async sizeOf(prefix) {
      let bytes = 0
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix }))
        for (const { Size = 0 } of Contents) bytes += Size
      return bytes
    },
  }
}

function linkVerbs({ client, bucket }: Bucket): Pick<ObjectStore, 'presignGet' | 'presignPut'> {
  return {
    async presignGet(key, { filename, contentType, expiresSeconds }) {
      const command = new GetObjectCommand({
        ...at(bucket, key),
        ResponseContentDisposition: attachment(filename),
        ResponseContentType: headerType(contentType),
      })
      return getSignedUrl(client, command, { expiresIn: linkLifetime(expiresSeconds) })
    },

    async presignPut(key, { bytes, contentType: named, expiresSeconds }) {
      const contentType = headerType(named)
      const command = new PutObjectCommand({ ...at(bucket, key), ContentLength: bytes, ContentType: contentType, IfNoneMatch: '*' })
      const url = await getSignedUrl(client, command, {
        expiresIn: linkLifetime(expiresSeconds),
        signableHeaders: new Set(['host', 'content-length', 'content-type', 'if-none-match']),
      })
      return { url, headers: { 'content-type': contentType, 'content-length': String(bytes), 'if-none-match': '*' } }
    },
  }
}

async function unlessMissing<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound')) return null
    throw error
  }
}
