/** SQLite's primary result codes. */
const SQLITE_BUSY = 5
const SQLITE_FULL = 13
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** Thrown when the database file cannot be read as one. */
export class DamagedDatabaseError extends Error {}

/** Thrown when another program has the database file open. */
export class LockedDatabaseError extends Error {}

/** Converts SQLite's error: a full disk gets the file system's code. */
export function refusalOf(error: unknown): unknown {
  const code = primaryCode(error)
  if (code === SQLITE_FULL)
    return Object.assign(new Error('No space left on device for the database.', { cause: error }), { code: 'ENOSPC' })
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB)
    return new DamagedDatabaseError(`The database file is damaged (${error instanceof Error ? error.message : code}).`, { cause: error })
  if (code === SQLITE_BUSY) return new LockedDatabaseError('Another program uses the database file.', { cause: error })
  return error
}

/** True if another connection holds a lock that the statement needs. */
export const isBusy = (error: unknown): boolean => primaryCode(error) === SQLITE_BUSY

/** Null for what is no error of SQLite. */
function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  // The low byte is the primary code, the rest an extension of it.
  return error.errcode & 0xff
}
