import { createHash, randomBytes } from 'node:crypto'
import { access, link, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ignoreMissing, openObjectFile, writeObjectFile, type ObjectMetadata, type OpenObject } from './object-file.ts'
import { S3Error } from './s3-error.ts'

export interface StoredObject extends ObjectMetadata {
  readonly bytes: number
}

/** Objects of buckets in a folder. A key never becomes a part of a path: files are named after its hash. */
export interface ObjectFolder {
  createBucket(bucket: string): Promise<void>
  hasBucket(bucket: string): Promise<boolean>
  /** Takes effect at once or not at all. With `onlyNew` throws S3Error PreconditionFailed when the key is taken. */
  put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: { readonly contentType: string; readonly onlyNew?: boolean },
  ): Promise<StoredObject>
  open(bucket: string, key: string): Promise<OpenObject | null>
  delete(bucket: string, key: string): Promise<void>
  /** In the order of the keys' bytes. */
  list(bucket: string, prefix: string): Promise<readonly StoredObject[]>
  /** A fresh path on the same disk for bytes that are not an object yet; what lies there is removed at the next start. */
  temporaryPath(): string
}

const MAX_OBJECT_BYTES = 5 * 1024 ** 3
const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
/** Keys that agree in their first segments (`tenants/{tenant}/{container}`) share a folder, so that listing one container reads no other's. */
const GROUPING_SEGMENTS = 3
const folderName = (key: string): string => hashOf(key.split('/').slice(0, GROUPING_SEGMENTS).join('/')).slice(0, 32)

export async function openObjectFolder(folder: string): Promise<ObjectFolder> {
  const temporary = join(folder, 'temporary')
  await rm(temporary, { recursive: true, force: true })
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const temporaryPath = (): string => join(temporary, randomBytes(16).toString('hex'))

  const bucketPath = (bucket: string): string => {
    if (!BUCKET_NAME.test(bucket))
      throw new S3Error('InvalidBucketName', 'A bucket name has 3 to 63 lower-case letters, digits and hyphens.')
    return join(folder, 'buckets', bucket)
  }
  const objectPath = (bucket: string, key: string): string => join(bucketPath(bucket), folderName(key), hashOf(key))
  const hasBucket = (bucket: string): Promise<boolean> =>
    access(bucketPath(bucket)).then(
      () => true,
      () => false,
    )

  return {
    temporaryPath,
    hasBucket,

    async createBucket(bucket) {
      await mkdir(bucketPath(bucket), { recursive: true, mode: 0o700 })
    },

    async put(bucket, key, body, { contentType, onlyNew = false }) {
      if (!(await hasBucket(bucket))) throw new S3Error('NoSuchBucket', 'The bucket does not exist.')
      const metadata: ObjectMetadata = { key, contentType, etag: `"${randomBytes(16).toString('hex')}"`, modifiedAt: Date.now() }
      const unfinished = temporaryPath()
      try {
        const bytes = await writeObjectFile(unfinished, body, metadata, MAX_OBJECT_BYTES)
        await publish(unfinished, objectPath(bucket, key), onlyNew)
        return { ...metadata, bytes }
      } finally {
        await unlink(unfinished).catch(ignoreMissing)
      }
    },

    open: (bucket, key) => openObjectFile(objectPath(bucket, key)),

    async delete(bucket, key) {
      const path = objectPath(bucket, key)
      await unlink(path).catch(ignoreMissing)
      await rmdir(dirname(path)).catch(() => undefined)
    },

    async list(bucket, prefix) {
      const found: StoredObject[] = []
      const isOneFolder = prefix.split('/').length > GROUPING_SEGMENTS
      for (const name of isOneFolder ? [folderName(prefix)] : await readdir(bucketPath(bucket))) {
        const path = join(bucketPath(bucket), name)
        for (const file of (await readdir(path).catch(ignoreMissing)) ?? []) {
          const object = await openObjectFile(join(path, file))
          if (object === null) continue
          await object.file.close()
          if (object.metadata.key.startsWith(prefix)) found.push({ ...object.metadata, bytes: object.bytes })
        }
      }
      return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
    },
  }
}

/** Makes a complete file visible under its name. The folder may be missing, or go while its last object is deleted. */
async function publish(from: string, to: string, onlyNew: boolean): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await (onlyNew ? link(from, to) : rename(from, to))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (onlyNew && code === 'EEXIST') throw new S3Error('PreconditionFailed', 'An object with this key exists already.')
      if (code !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error
      await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    }
  }
}
const MAX_ATTEMPTS = 5
