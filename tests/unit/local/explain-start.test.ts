import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { explainStart } from '../../../services/local/explain-start.ts'

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
  it('says what to do when a file is in the place of the data folder', async () => {
    for (const folder of [import.meta.filename, `${import.meta.filename}/below`])
      expect(explainStart(await faultOf(mkdir(folder, { recursive: true })))).toMatch(/^The data folder cannot be made.*--data/)
  })

  it('says what to do when the machine has no such address', async () => {
    expect(explainStart(await faultOf(listening('192.0.2.1')))).toMatch(/HOST=127\.0\.0\.1/)
  })
})
