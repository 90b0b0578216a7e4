import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { objectStoreContract } from './object-store.ts'

const MiB = 1024 * 1024
let storage: AwsStorage
beforeAll(async () => void (storage = await startAwsStorage()))
afterAll(async () => {
  await storage.stop()
  expect(storage.faults).toEqual([])
})

objectStoreContract('S3', () => storage.objects)

describe('S3 beyond the port', () => {
  it('rejects a check when the bucket is missing', async () => {
    const { clients } = storage
    await expect(createS3ObjectStore({ client: clients.s3, bucket: 'nowhere' }).check()).rejects.toThrow()
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
