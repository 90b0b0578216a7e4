import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isId, newId } from '../../model/ids.ts'
import { absent, any, atMost, equals, remove, set } from '../../adapters/storage/rows/expression.ts'
import type { Items } from '../../adapters/storage/rows/items.ts'
import { ConfigError } from './config.ts'
import { lockFile } from './lock-file.ts'

/** A server whose entry is not renewed for this long counts as dead, milliseconds. */
export const TABLE_LOCK_MS = 30_000
const RENEW_EVERY_MS = 10_000
const KEY = { pk: 'S#local-server', sk: 'row' } as const

export interface TableLock {
  release(): Promise<void>
}

type LockItems = Pick<Items, 'get' | 'update'>

/**
 * Refuses a second local server on a table, because each would stop the other's sandboxes, which only its own engine can reach. An entry expires
 * after TABLE_LOCK_MS without renewal. The entry of a dead server with the same temporary folder is taken over at once. Throws ConfigError while a
 * live server holds the table. `onLost`: another server has taken the table over, because this one did not renew its entry in time.
 */
export async function lockTable(options: {
  readonly items: LockItems
  readonly tableName: string
  readonly onLost: (error: Error) => void
  readonly onError: (error: unknown) => void
  readonly renewEveryMs?: number
}): Promise<TableLock> {
  const { items, tableName, onLost, onError, renewEveryMs = RENEW_EVERY_MS } = options
  const owner = newId('worker')
  const life = holdLife(owner)
  await acquire(items, tableName, owner).catch(async (error: unknown) => {
    await life.end()
    throw error
  })
  const timer = setInterval(() => {
    void renew(items, owner).then((isHeld) => {
      if (isHeld) return
      clearInterval(timer)
      onLost(new ConfigError(`Another server has taken over the table ${tableName}. This server stops. Run one server for each table.`))
    }, onError)
  }, renewEveryMs)
  timer.unref()
  return {
    async release() {
      clearInterval(timer)
      await items.update(KEY, [remove('owner')], { condition: equals('owner', owner) })
      await life.end()
    },
  }
}

async function acquire(items: LockItems, tableName: string, owner: string): Promise<void> {
  const now = Date.now()
  const entry = [
    set('v', 1),
    set('owner', owner),
    set('machine', hostname()),
    set('pid', process.pid),
    set('expiresAt', now + TABLE_LOCK_MS),
  ]
  if ((await items.update(KEY, entry, { condition: any(absent('owner'), atMost('expiresAt', now)) })) !== null) return
  const present = await items.get(KEY)
  const holder = String(present?.['owner'])
  // The reply to this call's own write was lost, and the client repeated the write.
  if (holder === owner) return
  if ((await isDead(holder)) && (await items.update(KEY, entry, { condition: equals('owner', holder) })) !== null) return
  throw new ConfigError(
    `The table ${tableName} is used by another server (process ${String(present?.['pid'])} on ${String(present?.['machine'])}). Stop it, or use another table: each server needs its own table. If that server has crashed, start again in ${TABLE_LOCK_MS / 1000} seconds.`,
  )
}

const renew = async (items: LockItems, owner: string): Promise<boolean> =>
  (await items.update(KEY, [set('expiresAt', Date.now() + TABLE_LOCK_MS)], { condition: equals('owner', owner) })) !== null

const lifePath = (owner: string): string => join(tmpdir(), `cellblock-table-${owner}.lock`)

/** Locks the owner's file for as long as this process lives. */
function holdLife(owner: string): { end(): Promise<void> } {
  const path = lifePath(owner)
  const lock = lockLife(path)
  if (lock === null) throw new Error(`The lock file ${path} is in use.`)
  return {
    async end() {
      await rm(path, { force: true })
      lock.release()
    },
  }
}

function lockLife(path: string): ReturnType<typeof lockFile> {
  try {
    return lockFile(path)
  } catch (error) {
    throw new ConfigError(
      `The server cannot write the lock file ${path}: ${String(error)}. Set TMPDIR to a folder that this user can write to.`,
    )
  }
}

/**
 * Whether the owner's process has ended. Its file proves it, and no process id could: ids are reused, and containers of one machine may have the
 * same host name and ids. Without the file, which another machine or temporary folder may have, or with a file of another user, nothing is known.
 */
async function isDead(owner: string): Promise<boolean> {
  const path = lifePath(owner)
  if (!isId('worker', owner) || !existsSync(path)) return false
  try {
    const lock = lockFile(path)
    if (lock === null) return false
    await rm(path, { force: true }).finally(() => lock.release())
    return true
  } catch {
    return false
  }
}
