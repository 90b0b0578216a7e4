import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConfigError } from '../../../services/local/config.ts'
import { explainStart } from '../../../services/local/explain-start.ts'
import { lockDataDir } from '../../../services/local/lock-data-dir.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('refuses a second server on the data folder of a running one', async () => {
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', 'services/local/main.ts'])
  await once(other, 'spawn')
  await writeFile(join(folder, 'server.pid'), String(other.pid))
  await expect(lockDataDir(folder)).rejects.toThrow(ConfigError)
  other.kill()
  await once(other, 'exit')
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})

it('ignores a process id that another program has now', async () => {
  await writeFile(join(folder, 'server.pid'), String(process.ppid))
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})

it('takes over the lock of a killed server and removes its own lock at the end', async () => {
  await writeFile(join(folder, 'server.pid'), '4194304')
  const first = await lockDataDir(folder)
  await first.release()
  await expect(lockDataDir(folder)).resolves.toBeDefined()
})

it('creates all parent folders', async () => {
  const first = await lockDataDir(join(folder, 'a', 'b'))
  await first.release()
  expect((await stat(join(folder, 'a', 'b'))).mode & 0o777).toBe(0o700)
})

it.runIf(process.platform === 'linux')('reports where a folder cannot be created', async () => {
  const refusal: unknown = await lockDataDir('/proc/cellblock/data').catch((error: unknown) => error)
  expect(explainStart(refusal)).toMatch(/^The data folder cannot be created/)
})

it('refuses a file as the folder', async () => {
  await writeFile(join(folder, 'file'), '')
  await expect(lockDataDir(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(lockDataDir(join(folder, 'file', 'below'))).rejects.toMatchObject({ code: 'EEXIST' })
})
