import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../adapters/storage/sqlite/sqlite-error.ts'

/**
 * Locks a file, which is created if it is missing. Null while another process or another lock of this one has it. The operating system holds the
 * lock (of SQLite), so exactly one of several callers gets it, and a killed process holds it no longer.
 */
export function lockFile(path: string): { release(): void } | null {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return null
    throw error
  }
  return { release: () => lock.close() }
}
