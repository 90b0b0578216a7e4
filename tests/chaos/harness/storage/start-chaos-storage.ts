import type { ChaosStorage, ChaosStorageOptions } from './chaos-storage.ts'

/** Starts the storage that CELLBLOCK_STORAGE names; embedded by default. */
export async function startChaosStorage(options: ChaosStorageOptions): Promise<ChaosStorage> {
  if (process.env['CELLBLOCK_STORAGE'] === 'aws') return (await import('./aws-storage.ts')).startAwsChaosStorage(options)
  return (await import('./embedded-storage.ts')).startEmbeddedChaosStorage(options)
}
