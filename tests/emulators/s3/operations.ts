import type { ServerResponse } from 'node:http'
import type { S3Request } from './authenticate.ts'
import { verifiedBody, type Chunks } from './body.ts'
import { sendObject } from './send-object.ts'
import type { ObjectFolder, StoredObject } from './bucket-folder.ts'
import type { Operation } from './operation.ts'
import { S3Error } from './s3-error.ts'
import { readTags, readText, renderXml, type XmlTree } from './xml.ts'

/** Documents of the SDK such as a list of keys stay below this, bytes. */
const MAX_XML_BYTES = 2 * 1024 * 1024
const DEFAULT_TYPE = 'application/octet-stream'
const MAX_KEYS = 1000

export const OPERATIONS = {
  async createBucket({ folder, bucket, response }: Operation) {
    await folder.createBucket(bucket)
    response.writeHead(200, { location: `/${bucket}` }).end()
  },

  async headBucket({ folder, bucket, response }: Operation) {
    await requireBucket(folder, bucket)
    response.writeHead(200).end()
  },

  async putObject(operation: Operation) {
    const { folder, bucket, key, request, response } = operation
    const ifNoneMatch = request.headers.get('if-none-match')
    if (ifNoneMatch !== undefined && ifNoneMatch !== '*') throw new S3Error('NotImplemented', 'If-None-Match is known with "*" only.')
    const options = { contentType: request.headers.get('content-type') ?? DEFAULT_TYPE, onlyNew: ifNoneMatch === '*' }
    const stored = await folder.put(bucket, key, bodyOf(operation), options)
    response.writeHead(200, { etag: stored.etag }).end()
  },

  getObject: (operation: Operation) => sendObject(operation),
  headObject: (operation: Operation) => sendObject(operation),

  async deleteObject({ folder, bucket, key, response }: Operation) {
    await folder.delete(bucket, key)
    response.writeHead(204).end()
  },

  async deleteObjects(operation: Operation) {
    const { folder, bucket } = operation
    await requireBucket(folder, bucket)
    const keys = readTags(await readXml(operation), 'Object').map((object) => readText(object, 'Key'))
    if (keys.length === 0 || keys.length > MAX_KEYS)
      throw new S3Error('MalformedXML', `Between 1 and ${MAX_KEYS} keys can be deleted at once.`)
    const deleted: XmlTree[] = []
    for (const key of keys) {
      if (key === null) throw new S3Error('MalformedXML', 'An object to delete has no key.')
      await folder.delete(bucket, key)
      deleted.push({ Key: key })
    }
    sendXml(operation.response, 'DeleteResult', { Deleted: deleted })
  },

  async listObjects({ folder, bucket, request, response }: Operation) {
    await requireBucket(folder, bucket)
    const { query } = request
    if (query.get('list-type') !== '2' || (query.get('delimiter') ?? '') !== '')
      throw new S3Error('NotImplemented', 'Only ListObjectsV2 without a delimiter is supported.')
    const prefix = query.get('prefix') ?? ''
    const token = query.get('continuation-token')
    const after = token === undefined ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString('utf8')
    const maxKeys = Math.min(MAX_KEYS, Number(query.get('max-keys') ?? MAX_KEYS))
    const beyond = (await folder.list(bucket, prefix)).filter((object) => Buffer.compare(Buffer.from(object.key), Buffer.from(after)) > 0)
    const page = beyond.slice(0, maxKeys)
    const isTruncated = beyond.length > page.length
    sendXml(response, 'ListBucketResult', {
      Name: bucket,
      Prefix: prefix,
      KeyCount: page.length,
      MaxKeys: maxKeys,
      IsTruncated: isTruncated,
      NextContinuationToken: isTruncated ? Buffer.from(page.at(-1)?.key ?? '').toString('base64url') : undefined,
      Contents: page.map(listEntry),
    })
  },

  async createMultipartUpload({ folder, uploads, bucket, key, request, response }: Operation) {
    await requireBucket(folder, bucket)
    const uploadId = uploads.create(bucket, key, request.headers.get('content-type') ?? DEFAULT_TYPE)
    sendXml(response, 'InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId: uploadId })
  },

  async uploadPart(operation: Operation) {
    const { etag } = await operation.uploads.putPart(
      uploadIdOf(operation),
      Number(operation.request.query.get('partNumber')),
      bodyOf(operation),
    )
    operation.response.writeHead(200, { etag }).end()
  },

  async completeMultipartUpload(operation: Operation) {
    const { uploads, bucket, key, response } = operation
    const uploadId = uploadIdOf(operation)
    const parts = readTags(await readXml(operation), 'Part').map((part) => ({
      partNumber: Number(readText(part, 'PartNumber')),
      etag: readText(part, 'ETag') ?? '',
    }))
    const stored = await uploads.complete(uploadId, parts)
    sendXml(response, 'CompleteMultipartUploadResult', { Bucket: bucket, Key: key, ETag: stored.etag })
  },

  async abortMultipartUpload(operation: Operation) {
    await operation.uploads.abort(uploadIdOf(operation))
    operation.response.writeHead(204).end()
  },
} as const satisfies Record<string, (operation: Operation) => Promise<void>>
export type OperationName = keyof typeof OPERATIONS

/** Which operation a request means; null for one outside this subset. */
export function operationOf({ method, query, headers }: S3Request, key: string): OperationName | null {
  if (headers.has('x-amz-copy-source')) return null
  if (key === '') {
    if (method === 'POST') return query.has('delete') ? 'deleteObjects' : null
    return ({ PUT: 'createBucket', HEAD: 'headBucket', GET: 'listObjects' } as const)[method] ?? null
  }
  if (query.has('uploadId'))
    return ({ PUT: 'uploadPart', POST: 'completeMultipartUpload', DELETE: 'abortMultipartUpload' } as const)[method] ?? null
  if (method === 'POST') return query.has('uploads') ? 'createMultipartUpload' : null
  return ({ PUT: 'putObject', GET: 'getObject', HEAD: 'headObject', DELETE: 'deleteObject' } as const)[method] ?? null
}

const bodyOf = ({ incoming, request, payloadHash }: Operation): Chunks =>
  verifiedBody(incoming.iterator({ destroyOnReturn: false }), request.headers, payloadHash)

async function readXml(operation: Operation): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of bodyOf(operation)) {
    bytes += chunk.byteLength
    if (bytes > MAX_XML_BYTES) throw new S3Error('EntityTooLarge', 'The document is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function uploadIdOf({ uploads, request, bucket, key }: Operation): string {
  const uploadId = request.query.get('uploadId') ?? ''
  uploads.check(uploadId, bucket, key)
  return uploadId
}

async function requireBucket(folder: ObjectFolder, bucket: string): Promise<void> {
  if (!(await folder.hasBucket(bucket))) throw new S3Error('NoSuchBucket', 'The bucket does not exist.')
}

const listEntry = (object: StoredObject): XmlTree => ({
  Key: object.key,
  LastModified: new Date(object.modifiedAt).toISOString(),
  ETag: object.etag,
  Size: object.bytes,
  StorageClass: 'STANDARD',
})

function sendXml(response: ServerResponse, root: string, tree: XmlTree): void {
  response.writeHead(200, { 'content-type': 'application/xml' }).end(renderXml(root, tree))
}
