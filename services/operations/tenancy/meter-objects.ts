import { ServiceError } from '../../model/errors.ts'
import { tenantOfKey } from '../../model/object-keys.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ByteStream } from '../../model/byte-stream.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { ResourceCount } from './resource-count.ts'

/** A full account may try again after this, seconds: its bytes are counted again when it has deleted some. */
const RETRY_AFTER_SECONDS = 60

/** Throws ServiceError `storage_exhausted` when the tenant may not store this many more bytes. */
export async function checkStorage(storage: ResourceCount, tenant: string, bytes: number): Promise<void> {
  if (!(await storage.admits(tenant, bytes))) throw exhausted(await storage.limitOf(tenant))
}

const exhausted = (value: number): ServiceError =>
  new ServiceError(
    'storage_exhausted',
    `This account stores as much as it may: ${value} bytes (limit storage_bytes). Delete files or containers, or ask the operator for more.`,
    { limit: { name: 'storage_bytes', value, retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )

/** A body of unknown size, which fails beyond the tenant's limit; the store then keeps nothing of it. */
async function* bounded(body: ByteStream, storage: ResourceCount, tenant: string): AsyncGenerator<Uint8Array> {
  let left = await storage.capacity(tenant, LIMITS.maxFileBytes)
  for await (const chunk of body) {
    left -= chunk.byteLength
    if (left < 0) throw exhausted(await storage.limitOf(tenant))
    yield chunk
  }
}

/**
 * An object store that counts the bytes of each tenant. With `isStrict` it throws ServiceError `storage_exhausted` beyond the tenant's limit; otherwise it
 * stores what work produces that was admitted before.
 */
export function meterObjects(objects: ObjectStore, storage: ResourceCount, { isStrict }: { readonly isStrict: boolean }): ObjectStore {
  const check = async (tenant: string | null, bytes: number): Promise<void> => {
    if (isStrict && tenant !== null) await checkStorage(storage, tenant, bytes)
  }
  const add = async (tenant: string | null, bytes: number): Promise<void> => {
    if (tenant !== null) await storage.add(tenant, bytes)
  }
  return {
    ...objects,
    async put(key, body, options) {
      const tenant = tenantOfKey(key)
      const bytes = body instanceof Uint8Array ? body.byteLength : options.bytes
      if (bytes !== undefined) await check(tenant, bytes)
      const isBounded = isStrict && bytes === undefined && tenant !== null && !(body instanceof Uint8Array)
      const stored = await objects.put(key, isBounded ? bounded(body, storage, tenant) : body, options)
      await add(tenant, stored.bytes)
      return stored
    },
    async presignPut(key, options) {
      const tenant = tenantOfKey(key)
      await check(tenant, options.bytes)
      const upload = await objects.presignPut(key, options)
      await add(tenant, options.bytes)
      return upload
    },
  }
}
