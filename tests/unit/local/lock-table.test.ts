import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../services/local/config.ts'
import { lockTable, TABLE_LOCK_MS, type TableHolder, type TableLock } from '../../../services/local/lock-table.ts'
import { openEmbeddedStorage } from '../../../services/local/storage/open-embedded-storage.ts'
import type { LocalStorage } from '../../../services/local/storage/local-storage.ts'
import { equals, set } from '../../../services/storage/rows/expression.ts'

const KEY = { pk: 'S#local-server', sk: 'row' }
const LIVE: TableHolder = { machine: 'here/1', pid: process.ppid }
const endedPid = (): number => spawnSync(process.execPath, ['--version']).pid

let storage: LocalStorage
beforeEach(async () => {
  storage = await openEmbeddedStorage({ dataDir: null, onError: (error) => expect.unreachable(String(error)) })
})
afterEach(() => storage.close())

const unexpected = (error: unknown): never => expect.unreachable(String(error))
const lock = (holder: TableHolder, onLost: (error: Error) => void = unexpected): Promise<TableLock> =>
  lockTable({ items: storage.items, tableName: 'rows', holder, onLost, onError: unexpected, renewEveryMs: 5 })

describe('the lock of a table', () => {
  it('refuses a second server with a sentence that names the first, and accepts it after the first has stopped', async () => {
    const first = await lock(LIVE)
    const refusal: unknown = await lock({ machine: 'here/1', pid: 4_194_304 }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ConfigError)
    expect(String(refusal)).toContain(`The table rows is used by another server (process ${process.ppid} on here).`)
    await first.release()
    await (await lock({ machine: 'there/2', pid: 7 })).release()
  })

  it('takes over the entry of a dead process of this machine, and not of another machine', async () => {
    const pid = endedPid()
    const killed = await lock({ machine: 'here/1', pid }, () => undefined)
    await expect(lock({ machine: 'there/2', pid: 7 })).rejects.toThrow(ConfigError)
    await (await lock(LIVE)).release()
    await killed.release()
  })

  it('is renewed while the server runs, expires without renewal, and reports to its former holder that it is lost', async () => {
    let lost: Error | null = null
    let second: TableLock | null = null
    const first = await lock({ machine: 'there/2', pid: 7 }, (error) => (lost = error))
    const before = Number((await storage.items.get(KEY))?.['expiresAt'])
    await expect.poll(async () => Number((await storage.items.get(KEY))?.['expiresAt'])).toBeGreaterThan(before)
    const owner = (await storage.items.get(KEY))?.['owner']
    await expect
      .poll(async () => {
        await storage.items.update(KEY, [set('expiresAt', Date.now() - TABLE_LOCK_MS)], equals('owner', owner))
        return (second = await lock(LIVE).catch(() => null))
      })
      .not.toBeNull()
    await expect.poll(() => lost).not.toBeNull()
    expect(String(lost)).toMatch(/Another server has taken over the table rows/)
    await Promise.all([first, second].map((held) => held?.release()))
  })
})
