import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { newId } from '../core/ids.ts'
import { absent, any, atMost, equals, remove, set } from '../storage/rows/expression.ts'
import type { Items } from '../storage/rows/items.ts'
import { ConfigError } from './config.ts'
import { isAlive } from './remove-orphaned-sandboxes.ts'

/** A server whose entry is not renewed for this long counts as dead, milliseconds. */
export const TABLE_LOCK_MS = 30_000
const RENEW_EVERY_MS = 10_000
const KEY = { pk: 'S#local-server', sk: 'row' } as const

/** The process that holds a table. `machine` changes with every boot. */
export interface TableHolder {
  readonly machine: string
  readonly pid: number
}

export interface TableLock {
  release(): Promise<void>
}

/**
 * Refuses a second local server on a table, because each would stop the other's sandboxes, which only its own engine can reach. An entry expires
 * after TABLE_LOCK_MS without renewal; the entry of a dead process of this machine is taken over at once. Throws ConfigError while a live
 * server holds the table. `onLost`: another server has taken the table over, because this one did not renew its entry in time.
 */
export async function lockTable(options: {
  readonly items: Pick<Items, 'get' | 'update'>
  readonly tableName: string
  readonly onLost: (error: Error) => void
  readonly onError: (error: unknown) => void
  readonly holder?: TableHolder
  readonly renewEveryMs?: number
}): Promise<TableLock> {
  const { items, tableName, onLost, onError, renewEveryMs = RENEW_EVERY_MS } = options
  const { holder = { machine: machineId(), pid: process.pid } } = options
  const owner = newId('worker')
  await acquire(items, tableName, owner, holder)
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
      await items.update(KEY, [remove('owner')], equals('owner', owner))
    },
  }
}

async function acquire(items: Pick<Items, 'get' | 'update'>, tableName: string, owner: string, holder: TableHolder): Promise<void> {
  const now = Date.now()
  const entry = [
    set('v', 1),
    set('owner', owner),
    set('machine', holder.machine),
    set('pid', holder.pid),
    set('expiresAt', now + TABLE_LOCK_MS),
  ]
  if ((await items.update(KEY, entry, any(absent('owner'), atMost('expiresAt', now)))) !== null) return
  const present = await items.get(KEY)
  // The reply to this call's own write was lost, and the client repeated the write.
  if (present?.['owner'] === owner) return
  const isDead = present?.['machine'] === holder.machine && (present['pid'] === holder.pid || !isAlive(Number(present['pid'])))
  if (isDead && (await items.update(KEY, entry, equals('owner', present['owner']))) !== null) return
  throw new ConfigError(
    `The table ${tableName} is used by another server (process ${String(present?.['pid'])} on ${machineName(present?.['machine'])}). Stop it, or use another table: each server needs its own table. If that server has crashed, start again in ${TABLE_LOCK_MS / 1000} seconds.`,
  )
}

const renew = async (items: Pick<Items, 'update'>, owner: string): Promise<boolean> =>
  (await items.update(KEY, [set('expiresAt', Date.now() + TABLE_LOCK_MS)], equals('owner', owner))) !== null

/** Two machines may have the same host name, and process ids repeat after a boot; the boot id distinguishes them. */
function machineId(): string {
  try {
    return `${hostname()}/${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`
  } catch {
    return hostname()
  }
}

const machineName = (machine: unknown): string => String(machine).split('/')[0] ?? 'an unknown machine'
