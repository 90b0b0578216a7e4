import { mkdir, writeFile } from 'node:fs/promises'
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

  it('tells a disk that is full from a table that is damaged', async () => {
    const full = /^The disk is full\. Free some space/
    expect(explainStart(await faultOf(writeFile('/dev/full', 'x')))).toMatch(full)
    const levelFault = (code: string, text: string): Error => Object.assign(new Error(text), { code })
    expect(explainStart(levelFault('LEVEL_IO_ERROR', 'IO error: 000003.log: No space left on device'))).toMatch(full)
    expect(explainStart(levelFault('LEVEL_IO_ERROR', 'IO error: 000003.log: Input/output error'))).toMatch(/Input\/output error.*is kept/)
    expect(explainStart(levelFault('LEVEL_CORRUPTION', 'bad block'))).toMatch(/damaged/)
  })

  it('says what to do when the machine has no such address', async () => {
    expect(explainStart(await faultOf(listening('192.0.2.1')))).toMatch(/HOST=127\.0\.0\.1/)
  })
})
