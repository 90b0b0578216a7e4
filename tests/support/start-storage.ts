import { openEmbeddedStorage } from '../../services/local/storage/open-embedded-storage.ts'
import type { LocalStorage } from '../../services/local/storage/local-storage.ts'

export interface Storage extends Pick<LocalStorage, 'table' | 'objects' | 'queue' | 'consumer' | 'objectHandler'> {
  /** Faults that the storage reported and no caller saw. */
  readonly faults: readonly unknown[]
  stop(): Promise<void>
}

/** The embedded storage, as a server on one machine uses it. */
export async function startStorage(dataDir: string | null = null): Promise<Storage> {
  const faults: unknown[] = []
  const storage = await openEmbeddedStorage({ dataDir, onError: (error) => void faults.push(error) })
  return { ...storage, faults, stop: () => storage.close() }
}
