import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openEmbeddedStorage } from '../../services/entries/local/storage/open-embedded-storage.ts'
import { openSqlite } from '../../services/adapters/storage/sqlite/open-sqlite.ts'
import { DamagedDatabaseError, LockedDatabaseError } from '../../services/adapters/storage/sqlite/sqlite-error.ts'
import { executionRow } from '../support/rows.ts'
import { startStorage } from '../support/start-storage.ts'

let dataDir: string
beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'cellblock-test-'))))
afterEach(() => rm(dataDir, { recursive: true, force: true }))

describe('a data folder', () => {
  it('keeps rows and objects over a restart', async () => {
    const row = executionRow()
    const first = await startStorage(dataDir)
    await first.table.executions.create(row)
    await first.objects.put('tenants/t/c/files/kept', Buffer.from('kept'), { contentType: 'text/plain' })
    await first.stop()

    const second = await startStorage(dataDir)
    expect(await second.table.executions.get(row.tenant, row.id)).toEqual(row)
    expect(await second.objects.head('tenants/t/c/files/kept')).toEqual({ bytes: 4 })
    await second.stop()
  })

  it('has everything that was acknowledged when its process is killed in the middle of writing', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../support/storage-child.ts'), dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let acknowledged = -1
    const lines = createInterface(child.stdout)
    lines.on('line', (line) => {
      acknowledged = Number(line)
      if (acknowledged === 40) child.kill('SIGKILL')
    })
    await Promise.all([once(child, 'exit'), once(lines, 'close')])
    expect(acknowledged).toBeGreaterThanOrEqual(40)

    const storage = await startStorage(dataDir)
    for (let index = 0; index <= acknowledged; index++) {
      expect(await storage.table.executions.get('tnt_1', `exec_child${index}`)).not.toBeNull()
      const object = await storage.objects.get(`tenants/tnt_1/child/files/${index}`)
      const chunks: Uint8Array[] = []
      for await (const chunk of object?.body ?? []) chunks.push(chunk)
      expect(Buffer.concat(chunks).equals(Buffer.alloc(20_000, index))).toBe(true)
    }
    expect(await readdir(join(dataDir, 'objects', 'temporary'))).toEqual([])
    await storage.stop()
  })

  it('refuses writes when the disk is full, keeps every acknowledged row, and accepts writes after space was freed', async () => {
    const program = [process.execPath, join(import.meta.dirname, '../support/full-disk-child.ts'), dataDir]
    // The process may create no file beyond 200 KiB, as on a disk that is full.
    const child = spawn('sh', ['-c', 'ulimit -f 400; trap "" XFSZ; exec "$0" "$@"', ...program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const acknowledged: string[] = []
    createInterface(child.stdout).on('line', (id) => acknowledged.push(id))
    const complaint = text(child.stderr)
    await once(child, 'close')
    expect([child.exitCode, await complaint]).toEqual([0, expect.stringMatching(/refused: /)])
    expect(acknowledged.length).toBeGreaterThan(5)
    const storage = await startStorage(dataDir)
    for (const id of acknowledged) expect(await storage.table.executions.get('tnt_1', id)).not.toBeNull()
    const row = executionRow()
    expect(await storage.table.executions.create(row)).toBe(true)
    await storage.stop()
  })

  it('can be copied while it is used, and the copy has every row and object', async () => {
    const storage = await openEmbeddedStorage({ dataDir, onError: (error) => expect.unreachable(String(error)) })
    const rows = Array.from({ length: 50 }, () => executionRow())
    await Promise.all(rows.map((row) => storage.table.executions.create(row)))
    await storage.objects.put('tenants/t/c/files/kept', Buffer.from('kept'), { contentType: 'text/plain' })
    const copy = join(dataDir, '..', `${basename(dataDir)}-copy`)
    const writing = Promise.all(Array.from({ length: 50 }, () => storage.table.executions.create(executionRow())))
    await storage.backUp?.(copy)
    await writing
    await storage.close()
    const restored = await startStorage(copy)
    for (const row of rows) expect(await restored.table.executions.get(row.tenant, row.id)).toEqual(row)
    expect(await restored.objects.head('tenants/t/c/files/kept')).toEqual({ bytes: 4 })
    await restored.stop()
    await rm(copy, { recursive: true })
  })

  it('of a later schema version is refused, and one of another program too', async () => {
    const file = join(dataDir, 'rows.sqlite')
    await (await startStorage(dataDir)).stop()
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    await expect(startStorage(dataDir)).rejects.toThrow(/schema version 99.*Start the newer version/)
    await rm(file)
    const foreign = new DatabaseSync(file)
    foreign.exec('CREATE TABLE notes (text TEXT); PRAGMA user_version = 1')
    foreign.close()
    await expect(startStorage(dataDir)).rejects.toThrow(/was not written by Cellblock/)
  })

  it('that another program has open is refused with a typed error, and is usable once that program has closed it', async () => {
    await (await startStorage(dataDir)).stop()
    const other = new DatabaseSync(join(dataDir, 'rows.sqlite'))
    other.prepare('SELECT count(*) FROM items').get()
    await expect(startStorage(dataDir)).rejects.toBeInstanceOf(LockedDatabaseError)
    other.close()
    const storage = await startStorage(dataDir)
    const late = new DatabaseSync(join(dataDir, 'rows.sqlite'))
    expect(() => late.prepare('SELECT count(*) FROM items').get()).toThrow(/locked/)
    late.close()
    await storage.stop()
  })

  it('with a damaged database is refused with a typed error', async () => {
    await writeFile(join(dataDir, 'rows.sqlite'), 'This is not a database, but a text of some length. '.repeat(100))
    await expect(startStorage(dataDir)).rejects.toBeInstanceOf(DamagedDatabaseError)
  })

  it('is optional: without one, a stop deletes everything', async () => {
    const original = process.env['TMPDIR']
    process.env['TMPDIR'] = dataDir
    try {
      const storage = await startStorage(null)
      await storage.objects.put('kept', Buffer.from('x'), { contentType: 'text/plain' })
      expect(await readdir(dataDir)).toHaveLength(1)
      await storage.stop()
      expect(await readdir(dataDir)).toEqual([])
    } finally {
      if (original === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = original
    }
  })
})

describe('rows with a time to live', () => {
  it('are deleted by the sweep once their time is over, and no earlier', async () => {
    const store = await openSqlite(join(dataDir, 'rows.sqlite'), { isDurable: false })
    const at = (ttl: number) => ({ pk: `T#t#row#${ttl}`, sk: 'row', ttl })
    for (let ttl = 1; ttl <= 1_200; ttl++) await store.items.put(at(ttl))
    await store.items.put({ pk: 'T#t#row#forever', sk: 'row' })
    expect(store.expire(1_100_999)).toBe(1_100)
    expect(await store.items.get(at(1_100))).toBeNull()
    expect(await store.items.get(at(1_101))).not.toBeNull()
    expect(await store.items.get({ pk: 'T#t#row#forever', sk: 'row' })).not.toBeNull()
    await store.close()
  })
})
