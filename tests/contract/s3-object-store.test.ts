import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { objectStoreContract } from './object-store.ts'

let storage: Storage
beforeAll(async () => void (storage = await startStorage()))
afterAll(async () => {
  await storage.stop()
  expect(storage.faults).toEqual([])
})

objectStoreContract('S3', () => storage.objects)

describe('S3: what the port does not say', () => {
  it('rejects a check when the bucket is missing', async () => {
    const { clients } = storage
    await expect(createS3ObjectStore({ client: clients.s3, bucket: 'nowhere', presign: clients.presign }).check()).rejects.toThrow()
  })

  it('lets go of what the bytes come from when the store fails in the middle', async () => {
    const { clients } = storage
    let isOpen = false
    async function* bytes(): AsyncGenerator<Uint8Array> {
      isOpen = true
      try {
        for (let part = 0; part < 40; part++) yield Buffer.alloc(1024 * 1024)
      } finally {
        isOpen = false
      }
    }
    const store = createS3ObjectStore({ client: clients.s3, bucket: 'nowhere', presign: clients.presign })
    await expect(store.put('key', bytes(), { contentType: 'text/plain' })).rejects.toThrow()
    await expect.poll(() => isOpen).toBe(false)
  })
})
