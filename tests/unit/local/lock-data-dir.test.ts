import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConfigError } from '../../../services/entries/local/config.ts'
import { explainStart } from '../../../services/entries/local/explain-start.ts'
import { lockDataDir } from '../../../services/entries/local/lock-data-dir.ts'

const LOCK_MODULE = join(import.meta.dirname, '../../../services/entries/local/lock-data-dir.ts')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** A process that locks the folder, says so, and holds the lock until its input ends. Its command line is not that of a server. */
function startHolder(): ChildProcessByStdio<Writable, Readable, null> {
  const code = `
    const { lockDataDir } = await import(${JSON.stringify(LOCK_MODULE)})
    const said = await lockDataDir(${JSON.stringify(folder)}).then(() => 'locked', (error) => error.message)
    process.stdout.write(said + '\\n')
    process.stdin.resume()
  `
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

const firstWords = async (holder: ChildProcessByStdio<Writable, Readable, null>): Promise<string> =>
  String(((await once(holder.stdout, 'data')) as [Buffer])[0])

async function end(holder: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  const ended = once(holder, 'exit')
  holder.kill('SIGKILL')
  await ended
}

it('refuses a second process on a locked folder and names the first, whatever its command line is', async () => {
  const holder = startHolder()
  expect(await firstWords(holder)).toBe('locked\n')
  await expect(lockDataDir(folder)).rejects.toThrow(`is used by another process (${holder.pid})`)
  await end(holder)
})

it('refuses a second lock of the same process', async () => {
  const first = await lockDataDir(folder)
  await expect(lockDataDir(folder)).rejects.toThrow(ConfigError)
  await first.release()
  await (await lockDataDir(folder)).release()
})

it('gives the lock to one of several processes that start together', async () => {
  const holders = Array.from({ length: 4 }, startHolder)
  const said = await Promise.all(holders.map(firstWords))
  await Promise.all(holders.map(end))
  expect(said.filter((words) => words === 'locked\n')).toHaveLength(1)
})

it('takes over the lock of a killed process', async () => {
  const holder = startHolder()
  await firstWords(holder)
  await end(holder)
  await (await lockDataDir(folder)).release()
})

it('leaves the lock of another process when a refused one ends', async () => {
  const first = await lockDataDir(folder)
  const refused = startHolder()
  expect(await firstWords(refused)).toContain('is used by another process')
  await end(refused)
  await expect(lockDataDir(folder)).rejects.toThrow(ConfigError)
  await first.release()
})

it('ignores the process id that an earlier version left', async () => {
  await writeFile(join(folder, 'server.pid'), String(process.ppid))
  await (await lockDataDir(folder)).release()
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
