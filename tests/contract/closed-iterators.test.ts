import { createRequire } from 'node:module'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sandboxRow } from '../support/rows.ts'
import { startStorage } from '../support/start-storage.ts'

const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'))
const folder = await mkdtemp(join(tmpdir(), 'cb-iterators-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each([
  ['in memory', 'memory-level', 'MemoryLevel', null],
  ['in a folder', 'level', 'Level', folder],
])('the embedded table %s', (_, module, name, dataDir) => {
  it('keeps no iterator open, whether a query reads to the end or stops before', async () => {
    const storage = await startStorage(dataDir)
    const { prototype } = requireOfDynalite(module)[name]
    const { values } = prototype
    const opened: { next(): Promise<unknown> }[] = []
    prototype.values = function (...args: readonly unknown[]) {
      const iterator = values.apply(this, args)
      opened.push(iterator)
      return iterator
    }
    try {
      for (let sandbox = 0; sandbox < 5; sandbox++) await storage.table.sandboxes.create(sandboxRow({ state: 'ready', claimedBy: null }))
      expect(await storage.table.sandboxes.ready('1g', 2)).toHaveLength(2)
      expect(await storage.table.sandboxes.all()).toHaveLength(5)
    } finally {
      prototype.values = values
    }
    expect(opened.length).toBeGreaterThanOrEqual(2)
    for (const iterator of opened)
      await expect
        .poll(() =>
          iterator.next().then(
            () => 'open',
            (error: { code: string }) => error.code,
          ),
        )
        .toBe('LEVEL_ITERATOR_NOT_OPEN')
    await storage.stop()
  })
})
