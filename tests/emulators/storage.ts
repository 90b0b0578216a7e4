import type { LocalStorage } from '../../services/entries/local/storage/local-storage.ts'

export interface Storage extends Pick<LocalStorage, 'table' | 'objects' | 'queue' | 'consumer' | 'objectHandler'> {
  /** Faults that the storage reported and no caller saw. */
  readonly faults: readonly unknown[]
  stop(): Promise<void>
}
