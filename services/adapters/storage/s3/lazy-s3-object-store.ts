import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ClientOptions } from '../client-options.ts'

/**
 * Objects in one S3 bucket, for functions: the client of S3 is loaded with the first object. Most calls use rows and queues only, and loading the client
 * took a fifteenth of a cold start.
 */
export function createLazyS3ObjectStore({ bucket, ...options }: ClientOptions & { readonly bucket: string }): ObjectStore {
  const load = async (): Promise<ObjectStore> => {
    const [{ createS3Client }, { createS3ObjectStore }] = await Promise.all([import('./s3-client.ts'), import('./s3-object-store.ts')])
    return createS3ObjectStore({ client: createS3Client(options), bucket })
  }
  let loaded: Promise<ObjectStore> | undefined
  // A failed load is not kept: the next call tries again.
  const store = (): Promise<ObjectStore> =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))

  return {
    put: async (key, body, options) => (await store()).put(key, body, options),
    get: async (key) => (await store()).get(key),
    head: async (key) => (await store()).head(key),
    delete: async (key) => (await store()).delete(key),
    deletePrefix: async (prefix, isOver) => (await store()).deletePrefix(prefix, isOver),
    sizeOf: async (prefix) => (await store()).sizeOf(prefix),
    presignGet: async (key, options) => (await store()).presignGet(key, options),
    presignPut: async (key, options) => (await store()).presignPut(key, options),
    check: async () => (await store()).check(),
  }
}
