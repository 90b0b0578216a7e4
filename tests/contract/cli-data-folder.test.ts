import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashApiKey } from '../../services/model/tenants/api-keys.ts'
import { lockDataDir } from '../../services/entries/local/lock-data-dir.ts'
import { executionRow } from '../support/rows.ts'
import { startStorage } from '../support/start-storage.ts'

const MAIN = join(import.meta.dirname, '../../scripts/cli/main.ts')
const row = executionRow()
let folder: string
let dataDir: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-cli-'))
  dataDir = join(folder, 'data')
  const storage = await startStorage(dataDir)
  await storage.table.executions.create(row)
  await storage.objects.put('tenants/t/c/files/kept', Buffer.from('kept'), { contentType: 'text/plain' })
  await storage.stop()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function cli(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args, '--data', dataDir], {
    cwd: folder,
    env: { ...process.env, TABLE_NAME: '', CELLBLOCK_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

describe('the command line on the data folder of a stopped server', () => {
  it('creates a tenant and a key, and lists them', async () => {
    const created = await cli('tenants', 'create', 'offline', '--json')
    const { id: tenant, api_key: key } = JSON.parse(created.stdout) as { readonly id: string; readonly api_key: string }
    expect((await cli('tenants', 'list')).stdout).toContain('offline')
    const storage = await startStorage(dataDir)
    expect(await storage.table.tenants.findKey(hashApiKey(key))).toMatchObject({ tenant, revokedAt: null })
    await storage.stop()
  })

  it('backs the folder up into a new place, and the backup has every row', async () => {
    const target = join(folder, 'backups', 'today')
    expect(await cli('backup', target)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Restore it by starting a server/) })
    expect((await readdir(target)).toSorted()).toEqual(['objects', 'rows.sqlite'])
    const restored = await startStorage(target)
    expect(await restored.table.executions.get(row.tenant, row.id)).toEqual(row)
    expect(await restored.objects.head('tenants/t/c/files/kept')).toEqual({ bytes: 4 })
    await restored.stop()
  })

  it('refuses a folder that another process uses, with one sentence', async () => {
    const lock = await lockDataDir(dataDir)
    const refused = await cli('tenants', 'list')
    expect([refused.code, refused.stderr.trim().split('\n')]).toEqual([3, [expect.stringContaining('is used by another process')]])
    await lock.release()
  })
})
