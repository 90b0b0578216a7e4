import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { explainStart } from '../../../services/entries/local/explain-start.ts'
import { SchemaError } from '../../../services/adapters/storage/sqlite/schema.ts'
import { refusalOf } from '../../../services/adapters/storage/sqlite/sqlite-error.ts'

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

const listening = (host: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    createServer().once('error', reject).once('listening', resolve).listen(0, host)
  })

describe('explainStart', () => {
  it('explains what to do when the data folder is a file', async () => {
    for (const folder of [import.meta.filename, `${import.meta.filename}/below`])
      expect(explainStart(await faultOf(mkdir(folder, { recursive: true })))).toMatch(/^The data folder cannot be created.*--data/)
  })

  it('distinguishes a full disk from a damaged, used or too new database', async () => {
    const full = /^The disk is full\. Free some space/
    expect(explainStart(await faultOf(writeFile('/dev/full', 'x')))).toMatch(full)
    expect(explainStart(refusalOf(Object.assign(new Error('database or disk is full'), { errcode: 13 })))).toMatch(full)
    expect(explainStart(refusalOf(Object.assign(new Error('file is not a database'), { errcode: 26 })))).toMatch(/damaged.*backup/)
    expect(explainStart(refusalOf(Object.assign(new Error('database is locked'), { errcode: 5 })))).toMatch(/Another program.*Close it/)
    expect(explainStart(new SchemaError('The data folder has schema version 9.'))).toBe('The data folder has schema version 9.')
  })

  it('explains what to do when the machine does not have the address', async () => {
    expect(explainStart(await faultOf(listening('192.0.2.1')))).toMatch(/HOST=127\.0\.0\.1/)
  })
})
