import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { QUEUES } from '../../../model/messages.ts'
import { createFileObjectStore } from '../../../adapters/storage/files/file-object-store.ts'
import { createObjectHandler } from '../../../adapters/storage/files/object-handler.ts'
import { openObjectFolder, type ObjectFolder } from '../../../adapters/storage/files/object-folder.ts'
import { MemoryQueue } from '../../../adapters/storage/memory-queue/memory-queue.ts'
import { createTable } from '../../../adapters/storage/rows/table.ts'
import { openSqlite, type SqliteStore } from '../../../adapters/storage/sqlite/open-sqlite.ts'
import type { LocalStorage } from './local-storage.ts'
import { openTemporaryFolder } from './temporary-folder.ts'

const ROWS_FILE = 'rows.sqlite'
const OBJECTS_FOLDER = 'objects'
/** DynamoDB deletes rows after their `ttl`; here a sweep does. */
const EXPIRE_EVERY_MS = 3_600_000

/**
 * Rows in SQLite, objects as files, queues in this process. With `dataDir` every acknowledged write survives a kill and a power failure;
 * without it everything is in a temporary folder that `close` deletes. `onError` receives faults that no caller sees.
 */
export async function openEmbeddedStorage(options: {
  readonly dataDir: string | null
  readonly onError: (error: unknown) => void
}): Promise<LocalStorage> {
  const { dataDir, onError } = options
  const isDurable = dataDir !== null
  const temporary = dataDir === null ? await openTemporaryFolder() : null
  const root = temporary?.path ?? String(dataDir)
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    const folder = await openObjectFolder(join(root, OBJECTS_FOLDER), { isDurable })
    const rows = await openSqlite(join(root, ROWS_FILE), { isDurable })
    // A link is valid for minutes at most, so the next start may invalidate it.
    const secret = randomBytes(32)
    const objects = createFileObjectStore({ folder, secret })
    const queue = new MemoryQueue()
    const stopSweeping = sweepExpired(rows, onError)
    return {
      table: createTable(rows.items, objects),
      objects,
      queue,
      consumer: queue,
      queueSizes: () => sizesOf(queue),
      items: rows.items,
      objectHandler: createObjectHandler({ folder, secret, onError }),
      backUp: (target) => backUp(rows, folder, target),
      async close() {
        stopSweeping()
        await rows.close()
        await temporary?.remove()
      },
    }
  } catch (error) {
    await temporary?.remove()
    throw error
  }
}

function sizesOf(queue: MemoryQueue): ReturnType<NonNullable<LocalStorage['queueSizes']>> {
  const sizes = QUEUES.map((name) => {
    const { ready, delayed, inFlight, deadLetters } = queue.counts(name)
    return [name, { waiting: ready + delayed + inFlight, dead: deadLetters }] as const
  })
  return Object.fromEntries(sizes) as ReturnType<NonNullable<LocalStorage['queueSizes']>>
}

/** Rows first: an object is stored before its row, so the copy has every object that a copied row names, unless it was deleted meanwhile. */
async function backUp(rows: SqliteStore, folder: ObjectFolder, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await mkdir(target, { mode: 0o700 })
  await rows.backUp(join(target, ROWS_FILE))
  await folder.copyTo(join(target, OBJECTS_FOLDER))
}

function sweepExpired(rows: SqliteStore, onError: (error: unknown) => void): () => void {
  const sweep = (): void => {
    try {
      rows.expire(Date.now())
    } catch (error) {
      onError(error)
    }
  }
  const timer = setInterval(sweep, EXPIRE_EVERY_MS)
  timer.unref()
  sweep()
  return () => clearInterval(timer)
}
