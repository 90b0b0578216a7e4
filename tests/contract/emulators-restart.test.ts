import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
    expect(second.emulators.credentials).not.toEqual(first.emulators.credentials)
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

  it('ends its process when it cannot be written to, and has everything that was acknowledged before', async () => {
    const program = [process.execPath, join(import.meta.dirname, '../support/full-disk-child.ts'), dataDir]
    // No file may grow beyond 50 KiB: so does a disk that is full.
    const child = spawn('sh', ['-c', 'ulimit -f 100; exec "$0" "$@"', ...program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const acknowledged: string[] = []
    createInterface(child.stdout).on('line', (id) => acknowledged.push(id))
    const complaint = text(child.stderr)
    await once(child, 'close')
    expect(await complaint).toMatch(/IO error/)
    expect([child.exitCode, acknowledged.length > 10]).toEqual([1, true])
    const storage = await startStorage(dataDir)
    for (const id of acknowledged) expect(await storage.table.executions.get('tnt_1', id)).not.toBeNull()
    await storage.stop()
  })

  it('is not needed: without one everything is gone after the stop', async () => {
    const usual = process.env['TMPDIR']
    process.env['TMPDIR'] = dataDir
    try {
      const storage = await startStorage(null)
      await storage.objects.put('kept', Buffer.from('x'), { contentType: 'text/plain' })
      expect(await readdir(dataDir)).toHaveLength(1)
      await storage.stop()
      expect(await readdir(dataDir)).toEqual([])
    } finally {
      if (usual === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = usual
    }
  })
})

describe('the emulators', () => {
  it('answer at this one address only, so that no other machine reaches them', async () => {
    const storage = await startStorage(null)
    for (const endpoint of Object.values(storage.emulators.endpoints)) {
      const { hostname, port } = new URL(endpoint)
      expect(hostname).toBe('127.0.0.1')
      await expect(once(connect(Number(port), '127.0.0.1'), 'connect')).resolves.toBeDefined()
      await expect(once(connect(Number(port), '127.0.0.2'), 'connect')).rejects.toThrow()
    }
    await storage.stop()
  })
})
