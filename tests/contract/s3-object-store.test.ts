import { HeadBucketCommand } from '@aws-sdk/client-s3'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../services/core/ports/object-store.ts'
import { createS3InProcess } from '../../services/local/s3/in-process.ts'
import type { StorageClients } from '../../services/storage/clients.ts'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { objectStoreContract } from './object-store.ts'

const MiB = 1024 * 1024
let storage: Storage
let http: StorageClients
let byHttp: ObjectStore
beforeAll(async () => {
  storage = await startStorage()
  http = storage.byHttp()
  byHttp = createS3ObjectStore({ client: http.s3, bucket: storage.resources.bucket, presign: http.presign })
})
afterAll(async () => {
  http.close()
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

  it('is closed only when the last request is over and done with', async () => {
    const [began, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const way = createS3InProcess(() => {
      began.resolve()
      return done.promise
    })
    const clients = storage.byHttp()
    way.connect(clients.s3)
    const asking = expect(clients.s3.send(new HeadBucketCommand({ Bucket: storage.resources.bucket }))).rejects.toThrow(/closed/)
    await began.promise
    const order: string[] = []
    const closing = way.close().then(() => order.push('closed'))
    await asking
    order.push('done')
    done.resolve()
    await closing
    expect(order).toEqual(['done', 'closed'])
  })

  it('takes no more of an upload than is read of it', async () => {
    let taken = 0
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (; taken < 40; taken++) yield Buffer.alloc(MiB)
    }
    const way = createS3InProcess(async (incoming) => {
      await once(incoming, 'readable')
      // Each turn there would be time for another part.
      for (let turn = 0; turn < 200; turn++) await setImmediate()
      incoming.destroy()
    })
    const clients = storage.byHttp()
    way.connect(clients.s3)
    const store = createS3ObjectStore({ client: clients.s3, bucket: 'any', presign: clients.presign })
    const storing = expect(store.put('key', bytes(), { contentType: 'text/plain', bytes: 40 * MiB })).rejects.toThrow()
    await expect.poll(() => taken).toBeGreaterThan(0)
    await way.close()
    await storing
    expect(taken).toBeLessThan(10)
  })

  it('rejects a check when the bucket is missing', async () => {
    const { clients } = storage
    await expect(createS3ObjectStore({ client: clients.s3, bucket: 'nowhere', presign: clients.presign }).check()).rejects.toThrow()
  })

  it.each([
    ['without a socket', undefined],
    ['without a socket, of known length', 40 * MiB],
    ['by HTTP', undefined],
    ['by HTTP, of known length', 40 * MiB],
  ])('lets go of what the bytes come from when the store fails in the middle, %s', async (way, length) => {
    let isOpen = false
    async function* bytes(): AsyncGenerator<Uint8Array> {
      isOpen = true
      try {
        for (let part = 0; part < 40; part++) yield Buffer.alloc(MiB)
      } finally {
        isOpen = false
      }
    }
    const { s3, presign } = way.startsWith('by HTTP') ? http : storage.clients
    const store = createS3ObjectStore({ client: s3, bucket: 'nowhere', presign })
    await expect(store.put('key', bytes(), { contentType: 'text/plain', ...(length && { bytes: length }) })).rejects.toThrow()
    await expect.poll(() => isOpen).toBe(false)
  })

  it('keeps nothing of an upload whose sender is silent when it closes, and waits for who reads', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
    const short = await startStorage(dataDir)
    await short.objects.put('tenants/t/c/f', Buffer.alloc(4 * MiB), { contentType: 'text/plain' })
    const began = Promise.withResolvers<void>()
    const silence = Promise.withResolvers<void>()
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10 * MiB)
      began.resolve()
      await silence.promise
    }
    const storing = short.objects.put('tenants/t/c/g', bytes(), { contentType: 'text/plain', bytes: 20 * MiB })
    await began.promise
    for await (const _ of (await short.objects.get('tenants/t/c/f'))?.body ?? []) break
    await Promise.all([short.emulators.stop(), expect(storing).rejects.toThrow()])
    expect(await readdir(join(dataDir, 'objects', 'temporary'))).toEqual([])
    silence.resolve()
    short.clients.close()
    await rm(dataDir, { recursive: true })
  })
})
