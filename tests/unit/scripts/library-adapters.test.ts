import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

const ADAPTERS = 'runtime-image/supervisor/cellblock_supervisor/worker/libraries/adapters.py'
const LOCK = 'runtime-image/requirements/full.lock'

it('the table of library adapters names the locked version of each library', async () => {
  const entries = [...(await readFile(ADAPTERS, 'utf8')).matchAll(/^ {4}Adapter\("([\w.]+)", "([\w-]+) ([\d.]+)", "(.+?)", /gm)]
  const locked = new Map(
    [...(await readFile(LOCK, 'utf8')).matchAll(/^([\w-]+)==([\d.]+)/gm)].map(([, name = '', version = '']) => [name, version] as const),
  )
  expect(entries.length).toBeGreaterThan(20)
  for (const [, module, name = '', version = '', reason = ''] of entries) {
    expect(`${name} ${name === 'python' ? '3.13.' : locked.get(name)}`, module).toContain(`${name} ${version}.`)
    expect(reason.length, module).toBeGreaterThan(20)
  }
})
