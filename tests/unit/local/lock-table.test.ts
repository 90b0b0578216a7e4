import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { ConfigError } from '../../../services/entries/local/config.ts'
import { lockTable, TABLE_LOCK_MS, type TableLock } from '../../../services/entries/local/lock-table.ts'
import { openEmbeddedStorage } from '../../../services/entries/local/storage/open-embedded-storage.ts'
import type { LocalStorage } from '../../../services/entries/local/storage/local-storage.ts'
import { equals, exists, set } from '../../../services/adapters/storage/rows/expression.ts'

const KEY = { pk: 'S#local-server', sk: 'row' }
const LOCK_MODULE = join(import.meta.dirname, '../../../services/entries/local/lock-table.ts')

let storage: LocalStorage
beforeEach(async () => {
  storage = await openEmbeddedStorage({ dataDir: null, onError: (error) => expect.unreachable(String(error)) })
})
afterEach(() => storage.close())

const unexpected = (error: unknown): never => expect.unreachable(String(error))
const lock = (onLost: (error: Error) => void = unexpected): Promise<TableLock> =>
  lockTable({ items: storage.items, tableName: 'rows', onLost, onError: unexpected, renewEveryMs: 5 })
const lockFilesOf = async (owner: string): Promise<readonly string[]> => (await readdir(tmpdir())).filter((name) => name.includes(owner))
const entryOf = async () => storage.items.get(KEY)

/** A server process that has locked a table and lives until it is killed. Its table is not this one: the test copies the entry. */
async function startHolder(): Promise<{ readonly owner: string; kill(): Promise<void> }> {
  const code = `
    const { lockTable } = await import(${JSON.stringify(LOCK_MODULE)})
    const update = async (key, [, { value }]) => { process.stdout.write(value); return {} }
    await lockTable({ items: { get: async () => null, update }, tableName: 'rows', onLost() {}, onError() {}, renewEveryMs: 1e9 })
    process.stdin.resume()
  `
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const owner = String(((await once(child.stdout, 'data')) as [Buffer])[0])
  return {
    owner,
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Writes the entry of this owner as a server on this host with the same process id: as in another container with the same host name. */
async function writeEntry(owner: string): Promise<void> {
  const expiresAt = Date.now() + TABLE_LOCK_MS
  const names = { v: 1, owner, machine: hostname(), pid: process.pid, expiresAt }
  const actions = Object.entries(names).map(([name, value]) => set(name, value))
  await storage.items.put({ ...KEY, v: 1 }, { kind: 'absent', path: 'pk' })
  expect(await storage.items.update(KEY, actions, { condition: exists('pk') })).not.toBeNull()
}

describe('the lock of a table', () => {
  it('refuses a second server with a sentence that names the first, and accepts it after the first has stopped', async () => {
    const first = await lock()
    const owner = String((await entryOf())?.['owner'])
    expect(await lockFilesOf(owner)).not.toEqual([])
    const refusal: unknown = await lock().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ConfigError)
    expect(String(refusal)).toContain(`The table rows is used by another server (process ${process.pid} on ${hostname()}).`)
    await first.release()
    await (await lock()).release()
    expect(await lockFilesOf(owner)).toEqual([])
  })

  it('refuses a server whose process id and host name are those of a live holder, and takes over once that process is killed', async () => {
    const holder = await startHolder()
    await writeEntry(holder.owner)
    await expect(lock()).rejects.toThrow(ConfigError)
    await holder.kill()
    const second = await lock()
    expect((await entryOf())?.['owner']).not.toBe(holder.owner)
    await second.release()
    expect(await lockFilesOf(holder.owner)).toEqual([])
  })

  it('waits for the expiry of an entry of which nothing else is known, such as one of another machine', async () => {
    const owner = newId('worker')
    await writeEntry(owner)
    await expect(lock()).rejects.toThrow(ConfigError)
    await storage.items.update(KEY, [set('expiresAt', Date.now())], { condition: equals('owner', owner) })
    await (await lock()).release()
  })

  it('names the temporary folder that a server cannot write to', async () => {
    vi.stubEnv('TMPDIR', join(tmpdir(), newId('worker')))
    const refusal: unknown = await lock().catch((error: unknown) => error)
    vi.unstubAllEnvs()
    expect(refusal).toBeInstanceOf(ConfigError)
    expect(String(refusal)).toMatch(/cannot write the lock file .*Set TMPDIR/)
    expect(await entryOf()).toBeNull()
  })

  it('is renewed while the server runs, expires without renewal, and reports to its former holder that it is lost', async () => {
    let lost: Error | null = null
    let second: TableLock | null = null
    const first = await lock((error) => (lost = error))
    const before = Number((await entryOf())?.['expiresAt'])
    await expect.poll(async () => Number((await entryOf())?.['expiresAt'])).toBeGreaterThan(before)
    const owner = (await entryOf())?.['owner']
    await expect
      .poll(async () => {
        await storage.items.update(KEY, [set('expiresAt', Date.now() - TABLE_LOCK_MS)], { condition: equals('owner', owner) })
        return (second = await lock().catch(() => null))
      })
      .not.toBeNull()
    await expect.poll(() => lost).not.toBeNull()
    expect(String(lost)).toMatch(/Another server has taken over the table rows/)
    await Promise.all([first, second].map((held) => held?.release()))
  })
})
