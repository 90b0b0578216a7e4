import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../services/core/ports/object-store.ts'
import { createStorageClients } from '../../services/storage/clients.ts'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { objectStoreContract } from './object-store.ts'

let storage: Storage
let byHttp: ObjectStore
beforeAll(async () => {
  storage = await startStorage()
  const { region, credentials, endpoints } = storage.emulators
  const clients = createStorageClients({ region, credentials, endpoints })
  byHttp = createS3ObjectStore({ client: clients.s3, bucket: storage.resources.bucket, presign: clients.presign })
})
afterAll(async () => {
  await storage.stop()
  expect(storage.faults).toEqual([])
})

objectStoreContract('S3', () => byHttp)
objectStoreContract('S3, without a socket', () => storage.objects)

describe('S3: what the port does not say', () => {
  it('cuts a body that is being read when it closes, and refuses what comes later', async () => {
    const short = await startStorage()
    await short.objects.put('tenants/t/c/f', Buffer.alloc(4 * 1024 * 1024), { contentType: 'text/plain' })
    const found = await short.objects.get('tenants/t/c/f')
    const reading = (async () => {
      for await (const _ of found?.body ?? []) await short.emulators.stop()
    })()
    await expect(reading).rejects.toThrow(/closed/)
    await expect(short.objects.get('tenants/t/c/f')).rejects.toThrow(/closed/)
    short.clients.close()
  })

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
