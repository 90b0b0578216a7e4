import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../../scripts/setup/command.ts'
import { quiet } from '../../../scripts/setup/progress.ts'
import { withSetupLock } from '../../../scripts/setup/setup-lock.ts'

const MODULE = join(import.meta.dirname, '../../../scripts/setup/setup-lock.ts')

describe('withSetupLock', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-lock-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('admits one process at a time', async () => {
    const lock = join(folder, 'lock')
    const inside = join(folder, 'inside')
    const script = `import { mkdirSync, rmdirSync } from 'node:fs'; import { setTimeout as wait } from 'node:timers/promises'
      const { withSetupLock } = await import(${JSON.stringify(MODULE)})
      await withSetupLock(${JSON.stringify(lock)}, () => {}, async () => { mkdirSync(${JSON.stringify(inside)}); await wait(50); rmdirSync(${JSON.stringify(inside)}) })`
    const results = await Promise.all([1, 2, 3, 4].map(() => runCommand(process.execPath, ['--input-type=module', '--eval', script])))
    expect(results.map(({ code, output }) => [code, output])).toEqual(results.map(() => [0, '']))
  })

  it('takes over the lock of a dead process', async () => {
    const lock = join(folder, 'lock')
    await mkdir(lock)
    const ended = await runCommand(process.execPath, ['--print', 'process.pid'])
    await writeFile(join(lock, 'pid'), ended.stdout.trim())
    expect(await withSetupLock(lock, quiet, () => Promise.resolve('in'))).toBe('in')
  })
})
