import { openEmbeddedStorage } from '../../services/entries/local/storage/open-embedded-storage.ts'
import type { Storage } from '../emulators/storage.ts'

export type { Storage } from '../emulators/storage.ts'

/** The embedded storage, as a server on one machine uses it; with CELLBLOCK_STORAGE=aws in the environment of the tests, the AWS adapters on emulators. */
export async function startStorage(dataDir: string | null = null): Promise<Storage> {
  if (dataDir === null && process.env['CELLBLOCK_STORAGE'] === 'aws')
    return (await import('../emulators/start-aws-storage.ts')).startAwsStorage()
  const faults: unknown[] = []
  const storage = await openEmbeddedStorage({ dataDir, onError: (error) => void faults.push(error) })
  return { ...storage, faults, stop: () => storage.close() }
}
