import { ServiceError } from '../../model/errors.ts'
import { tenantOfKey } from '../../model/object-keys.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ByteStream } from '../../model/byte-stream.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { RowMeter, Table } from '../../ports/table.ts'
import type { ResourceCount } from './resource-count.ts'
import type { Clock } from '../../ports/clock.ts'
import { createLimitReader } from './limit-reader.ts'
import { createResourceCounts, type ResourceCounts } from './resource-counts.ts'

/** A full account may try again after this, seconds: its bytes are counted again when it has deleted some. */
const RETRY_AFTER_SECONDS = 60

/** Space for the row that names an object, so that no object is stored whose row is then refused. */
const ROW_BYTES = 2 * 1024

/** Throws ServiceError `storage_exhausted` when the tenant may not store this many more bytes. */
export async function checkStorage(storage: ResourceCount, tenant: string, bytes: number): Promise<void> {
  if (!(await storage.admits(tenant, bytes))) throw exhausted(await storage.limitOf(tenant))
}

/** Throws ServiceError `storage_exhausted` when the tenant may not have this many more containers. */
export async function checkContainers({ containers }: Pick<ResourceCounts, 'containers'>, tenant: string, count: number): Promise<void> {
  if (!(await containers.admits(tenant, count))) throw tooManyContainers(await containers.limitOf(tenant))
}

const exhausted = (value: number): ServiceError =>
  new ServiceError(
    'storage_exhausted',
    `This account stores as much as it may: ${value} bytes (limit storage_bytes). Delete files or containers, or ask the operator for more.`,
    { limit: { name: 'storage_bytes', value, retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )

const tooManyContainers = (value: number): ServiceError =>
  new ServiceError(
    'storage_exhausted',
    `This account has ${value} containers, its maximum (limit containers). Delete containers, or ask the operator for more.`,
    { limit: { name: 'containers', value, retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )

/** A body of unknown size, which fails beyond the tenant's limit; the store then keeps nothing of it. */
async function* bounded(body: ByteStream, storage: ResourceCount, tenant: string): AsyncGenerator<Uint8Array> {
  let left = (await storage.capacity(tenant, LIMITS.maxFileBytes)) - ROW_BYTES
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
function meterObjects(objects: ObjectStore, storage: ResourceCount, { isStrict }: { readonly isStrict: boolean }): ObjectStore {
  const check = async (tenant: string | null, bytes: number): Promise<void> => {
    if (isStrict && tenant !== null) await checkStorage(storage, tenant, bytes + ROW_BYTES)
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

/** Rows as `meterObjects` counts objects. */
function meterRows({ storageBytes, rowBytes, containers }: ResourceCounts, { isStrict }: { readonly isStrict: boolean }): RowMeter {
  return {
    admit: async (tenant, { bytes, isContainer }) => {
      if (!isStrict) return isContainer ? containers.add(tenant, 1) : undefined
      await checkStorage(storageBytes, tenant, bytes)
      if (isContainer && !(await containers.take(tenant))) throw tooManyContainers(await containers.limitOf(tenant))
    },
    add: async (tenant, bytes) => {
      await rowBytes.add(tenant, bytes)
      if (bytes > 0) await storageBytes.add(tenant, bytes)
    },
  }
}

/** For work that was admitted before: a table and an object store that count what each tenant stores, and refuse nothing. */
export function countStorage<Ports extends { readonly table: Table; readonly objects: ObjectStore; readonly clock: Clock }>(
  ports: Ports,
): Ports {
  const limits = createLimitReader(ports.table.tenants, ports.clock)
  return { ...ports, ...meterStorage(ports, createResourceCounts({ ...ports, limits }), { isStrict: false }) }
}

/** A table and an object store that count what each tenant stores. With `isStrict` they refuse what exceeds the tenant's limit before they store it. */
export function meterStorage(
  { table, objects }: { readonly table: Table; readonly objects: ObjectStore },
  counts: ResourceCounts,
  options: { readonly isStrict: boolean },
): { readonly table: Table; readonly objects: ObjectStore } {
  const metered = meterObjects(objects, counts.storageBytes, options)
  return { table: table.metered({ rows: meterRows(counts, options), objects: metered }), objects: metered }
}
