/** SQLite's primary result codes. */
const SQLITE_FULL = 13
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** Thrown when the database file cannot be read as one. */
export class DamagedDatabaseError extends Error {}

/** Converts SQLite's error: a full disk gets the file system's code. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  // The low byte is the primary code, the rest an extension of it.
  const code = error.errcode & 0xff
  if (code === SQLITE_FULL)
    return Object.assign(new Error('No space left on device for the database.', { cause: error }), { code: 'ENOSPC' })
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB)
    return new DamagedDatabaseError(`The database file is damaged (${error.message}).`, { cause: error })
  return error
}
