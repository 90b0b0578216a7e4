import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startServer } from '../support/local-server.ts'

it('refuses a damaged database and a data folder of version 0.1 with one sentence', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-damaged-'))
  await writeFile(join(dataDir, 'rows.sqlite'), 'not a database '.repeat(1_000))
  await expect(startServer({ dataDir })).rejects.toThrow(/exit code 1\):\n✗ The database in the data folder is damaged .*\n$/)
  await mkdir(join(dataDir, 'table'))
  await expect(startServer({ dataDir })).rejects.toThrow(/exit code 1\):\n✗ The data folder .* was written by Cellblock 0\.1.*\n$/)
  await rm(dataDir, { recursive: true })
})
