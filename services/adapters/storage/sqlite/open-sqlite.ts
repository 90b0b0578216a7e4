import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { Items } from '../rows/items.ts'
import { GroupCommit } from './group-commit.ts'
import { migrate } from './schema.ts'
import { refusalOf } from './sqlite-error.ts'
import { SqliteItems } from './sqlite-items.ts'

export interface SqliteStore {
  readonly items: Items
  /** Deletes items whose `ttl` (epoch seconds) is over at `now` (epoch ms); returns how many. */
  expire(now: number): number
  /** Writes a consistent copy to a new file while the store is used. */
  backUp(path: string): Promise<void>
  close(): Promise<void>
}

/** Maximum number of rows that one statement of a sweep deletes; more would block the event loop. */
const EXPIRE_BATCH = 500

/** The longest wait for the lock of the file, milliseconds. It blocks the event loop, at a start only. */
const LOCK_TIMEOUT_MS = 2_000

/**
 * Opens or creates the database file and locks it: no other connection can read or write it until this one is closed. With `isDurable`, an
 * acknowledged write survives a power failure: SQLite runs with `synchronous=NORMAL`, which does not sync at a commit, and GroupCommit syncs the
 * log with `fdatasync` on a thread of libuv before a call resolves. `synchronous=FULL` gives the same guarantee, but blocks the event loop.
 * Otherwise there is no log, and a killed process can leave a damaged file.
 */
export async function openSqlite(path: string, { isDurable }: { readonly isDurable: boolean }): Promise<SqliteStore> {
  const database = openDatabase(path, isDurable)
  const log = isDurable ? await openLog(path, database) : null
  const commits = log === null ? null : new GroupCommit(() => log.datasync())
  const expireSome = database.prepare('DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE ttl <= ? LIMIT ?)')

  return {
    items: new SqliteItems(database, commits),
    expire: (now) => {
      let expired = 0
      for (let deleted = EXPIRE_BATCH; deleted === EXPIRE_BATCH; expired += deleted)
        deleted = Number(expireSome.run(Math.floor(now / 1000), EXPIRE_BATCH).changes)
      return expired
    },
    backUp: async (target) => void (await backup(database, target)),
    async close() {
      await commits?.settled().catch(() => undefined)
      database.close()
      await log?.close()
    },
  }
}

/** The log, whose name is on disk. Closes the database when that fails. */
async function openLog(path: string, database: DatabaseSync): Promise<FileHandle> {
  let log: FileHandle | undefined
  try {
    log = await open(`${path}-wal`, 'r+')
    await syncFolder(dirname(path))
    return log
  } catch (error) {
    database.close()
    await log?.close()
    throw error
  }
}

function openDatabase(path: string, isDurable: boolean): DatabaseSync {
  // A killed server of this folder may still be ending.
  const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS })
  try {
    // The lock comes first: with it the index of the log needs no shared memory, and a statement no system calls for locks.
    const [journal, synchronous] = isDurable ? ['WAL', 'NORMAL'] : ['MEMORY', 'OFF']
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = ${journal}; PRAGMA synchronous = ${synchronous}`)
    // Creates the log file: its name has to be on disk before the first commit is acknowledged.
    migrate(database)
    database.exec('BEGIN EXCLUSIVE; ROLLBACK')
    return database
  } catch (error) {
    database.close()
    throw refusalOf(error)
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
