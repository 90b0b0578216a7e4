import { open } from 'node:fs/promises'
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

/**
 * Opens or creates the database file. With `isDurable`, an acknowledged write survives a power failure: SQLite runs with
 * `synchronous=NORMAL`, which does not sync at a commit, and GroupCommit syncs the log with `fdatasync` on a thread of libuv before a
 * call resolves. `synchronous=FULL` gives the same guarantee, but blocks the event loop.
 */
export async function openSqlite(path: string, { isDurable }: { readonly isDurable: boolean }): Promise<SqliteStore> {
  const database = openDatabase(path, isDurable)
  const log = await open(`${path}-wal`, 'r+')
  try {
    if (isDurable) await syncFolder(dirname(path))
  } catch (error) {
    database.close()
    await log.close()
    throw error
  }
  const commits = isDurable ? new GroupCommit(() => log.datasync()) : null
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
      await log.close()
      database.close()
    },
  }
}

function openDatabase(path: string, isDurable: boolean): DatabaseSync {
  const database = new DatabaseSync(path)
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isDurable ? 'NORMAL' : 'OFF'}; PRAGMA busy_timeout = 5000`)
    // Creates the log file: its name has to be on disk before the first commit is acknowledged.
    migrate(database)
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
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
