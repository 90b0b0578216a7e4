import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConfigError } from '../../../services/local/config.ts'
import { lockDataDir } from '../../../services/local/lock-data-dir.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('keeps a second server off the data folder of a live one', async () => {
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', 'services/local/main.ts'])
  await once(other, 'spawn')
  await writeFile(join(folder, 'server.pid'), String(other.pid))
  await expect(lockDataDir(folder)).rejects.toThrow(ConfigError)
  other.kill()
  await once(other, 'exit')
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})

it('believes no number that another program has now', async () => {
  await writeFile(join(folder, 'server.pid'), String(process.ppid))
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})

it('takes over what a killed server left, and leaves nothing behind', async () => {
  await writeFile(join(folder, 'server.pid'), '4194304')
  const first = await lockDataDir(folder)
  await first.release()
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})
