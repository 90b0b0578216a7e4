import type { LocalConfig } from '../config.ts'
import type { LocalStorage } from './local-storage.ts'

/** Opens the configured storage. Only its own modules are loaded: the AWS SDK takes 14 MB of memory. */
export async function openLocalStorage(
  { storage, dataDir }: Pick<LocalConfig, 'storage' | 'dataDir'>,
  onError: (error: unknown) => void,
): Promise<LocalStorage> {
  if (storage.kind === 'aws') return (await import('./open-aws-storage.ts')).openAwsStorage(storage)
  return (await import('./open-embedded-storage.ts')).openEmbeddedStorage({ dataDir, onError })
}
