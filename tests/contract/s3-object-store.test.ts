import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../services/ports/object-store.ts'
import { readBytes } from '../../services/model/read-bytes.ts'
import { createLazyS3ObjectStore } from '../../services/adapters/storage/s3/lazy-s3-object-store.ts'
import { createS3ObjectStore } from '../../services/adapters/storage/s3/s3-object-store.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { objectStoreContract } from './object-store.ts'

const MiB = 1024 * 1024
let storage: AwsStorage
let objects: ObjectStore
beforeAll(async () => {
  storage = await startAwsStorage()
  const { region, credentials, endpoints } = storage.emulators
  const { bucket } = storage.resources
  objects = createLazyS3ObjectStore({ region, credentials, endpoint: endpoints.s3, isEmulated: true, bucket })
})
afterAll(async () => {
  await storage.stop()
  expect(storage.faults).toEqual([])
})

// The lazy store calls the other one, so the contract covers both.
objectStoreContract('S3', () => objects)

describe('S3 beyond the port', () => {
  it('rejects a check when the bucket is missing', async () => {
    const { clients } = storage
    await expect(createS3ObjectStore({ client: clients.s3, bucket: 'nowhere' }).check()).rejects.toThrow()
  })

  it('reads an object while a hundred others wait for their readers', async () => {
    const large = Buffer.alloc(8 * MiB)
    await objects.put('large', large, { contentType: 'text/plain' })
    await objects.put('small', Buffer.from('x'), { contentType: 'text/plain' })
    let begun = 0
    const reads = Array.from({ length: 100 }, () => objects.get('large').finally(() => begun++))
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(100)
    const unread = await Promise.all(reads)
    const small = await objects.get('small')
    expect(small && Buffer.from(await readBytes(small.body)).toString()).toBe('x')
    for (const object of unread) if (object?.body instanceof Readable) object.body.destroy()
  })

  it.each([undefined, 40 * MiB])('closes the source of the bytes when the store fails during an upload of length %s', async (length) => {
    let isOpen = false
    async function* bytes(): AsyncGenerator<Uint8Array> {
      isOpen = true
      try {
        for (let part = 0; part < 40; part++) yield Buffer.alloc(MiB)
      } finally {
        isOpen = false
      }
    }
    const store = createS3ObjectStore({ client: storage.clients.s3, bucket: 'nowhere' })
    await expect(store.put('key', bytes(), { contentType: 'text/plain', ...(length && { bytes: length }) })).rejects.toThrow()
    await expect.poll(() => isOpen).toBe(false)
  })
})
