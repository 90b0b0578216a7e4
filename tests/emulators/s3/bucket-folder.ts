import { randomBytes } from 'node:crypto'
import { access, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenObject } from '../../../services/adapters/storage/files/object-file.ts'
import * as files from '../../../services/adapters/storage/files/object-folder.ts'
import { boundedBody } from './bounded-body.ts'
import { S3Error } from './s3-error.ts'

export type StoredObject = files.StoredObject

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
  /** Null also without the bucket. */
  open(bucket: string, key: string): Promise<OpenObject | null>
  delete(bucket: string, key: string): Promise<void>
  /** In the order of the keys' bytes. */
  list(bucket: string, prefix: string): Promise<readonly StoredObject[]>
  /** A fresh path on the same disk for bytes that are not an object yet; what lies there is removed at the next start. */
  temporaryPath(): string
}

const MAX_OBJECT_BYTES = 5 * 1024 ** 3
const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/

/** Each bucket is a folder of objects as the embedded storage has them. */
export async function openObjectFolder(root: string): Promise<ObjectFolder> {
  const temporary = join(root, 'temporary')
  await rm(temporary, { recursive: true, force: true })
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  return new BucketFolder(root, temporary)
}

class BucketFolder implements ObjectFolder {
  readonly #root: string
  readonly #temporary: string
  readonly #buckets = new Map<string, Promise<files.ObjectFolder>>()

  constructor(root: string, temporary: string) {
    this.#root = root
    this.#temporary = temporary
  }

  async createBucket(bucket: string): Promise<void> {
    await mkdir(this.#pathOf(bucket), { recursive: true, mode: 0o700 })
  }

  hasBucket(bucket: string): Promise<boolean> {
    return access(this.#pathOf(bucket)).then(
      () => true,
      () => false,
    )
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: { readonly contentType: string; readonly onlyNew?: boolean },
  ): Promise<StoredObject> {
    const objects = await this.#open(bucket)
    if (objects === null) throw new S3Error('NoSuchBucket', 'The bucket does not exist.')
    return objects.put(key, boundedBody(body, MAX_OBJECT_BYTES), options).catch((error: unknown) => {
      if (error instanceof files.ObjectExistsError) throw new S3Error('PreconditionFailed', error.message)
      throw error
    })
  }

  async open(bucket: string, key: string): Promise<OpenObject | null> {
    return (await this.#open(bucket))?.open(key) ?? null
  }

  async delete(bucket: string, key: string): Promise<void> {
    await (await this.#open(bucket))?.delete(key)
  }

  async list(bucket: string, prefix: string): Promise<readonly StoredObject[]> {
    return (await this.#open(bucket))?.list(prefix) ?? []
  }

  temporaryPath(): string {
    return join(this.#temporary, randomBytes(16).toString('hex'))
  }

  /** Null without the bucket. */
  async #open(bucket: string): Promise<files.ObjectFolder | null> {
    if (!(await this.hasBucket(bucket))) return null
    const opened = this.#buckets.get(bucket) ?? files.openObjectFolder(this.#pathOf(bucket), { isDurable: false })
    this.#buckets.set(bucket, opened)
    return opened
  }

  #pathOf(bucket: string): string {
    if (!BUCKET_NAME.test(bucket))
      throw new S3Error('InvalidBucketName', 'A bucket name has 3 to 63 lower-case letters, digits and hyphens.')
    return join(this.#root, 'buckets', bucket)
  }
}
