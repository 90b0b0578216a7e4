import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunProgress } from '../../../scripts/progress/run-progress.ts'
import { aboutText, durationText, leftText } from '../../../scripts/progress/time-left.ts'
import { step } from '../../../scripts/setup/progress.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-progress-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it.each([
  [durationText(59.4), '59 s'],
  [durationText(95), '1 min 35 s'],
  [durationText(3_720), '1 h 2 min'],
  [aboutText(4), 'some seconds'],
  [aboutText(84), 'about 80 s'],
  [aboutText(400), 'about 7 min'],
  [leftText(120, 30), 'about 90 s left'],
  [leftText(120, 130), 'longer than expected'],
])('%s', (text, expected) => expect(text).toBe(expected))

describe('a run of several parts', () => {
  /** Runs both parts on a clock that the parts advance; `a` takes 40 s and `b` 200 s. */
  async function run(file: string): Promise<readonly string[]> {
    let now = 0
    const said: string[] = []
    const progress = new RunProgress({ kind: 'test', parts: ['a', 'b'], say: (line) => void said.push(line), file, now: () => now })
    await progress.run(async () => void (now += 40_000))
    await progress.run(async (setShare) => {
      now += 50_000
      said.push(progress.status())
      setShare(0.5)
      said.push(progress.status())
      now += 150_000
    })
    return said
  }

  it('shows the time left of the second run from what the first took', async () => {
    const file = join(folder, 'two-runs.json')
    expect(await run(file)).toEqual([
      '▸ 1/2 a',
      '▸ 2/2 b: about 40 s',
      '… b for 50 s; longer than expected',
      '… b for 50 s, 50 %; about 50 s left',
    ])
    expect(await run(file)).toEqual([
      '▸ 1/2 a: about 40 s; about 4 min to the end',
      '▸ 2/2 b: about 3 min',
      '… b for 50 s; about 3 min left',
      '… b for 50 s, 50 %; about 50 s left',
    ])
  })

  it('remembers nothing of a part that failed', async () => {
    const file = join(folder, 'failed.json')
    const said: string[] = []
    const fail = new RunProgress({ kind: 'test', parts: ['a'], say: () => undefined, file })
    await expect(fail.run(() => Promise.reject(new Error('on purpose')))).rejects.toThrow('on purpose')
    await new RunProgress({ kind: 'test', parts: ['a'], say: (line) => void said.push(line), file }).run(async () => undefined)
    expect(said).toEqual(['▸ 1/1 a'])
  })
})

it('mentions silent work again with its time and the time left', async () => {
  const said: string[] = []
  const isMentioned = (): boolean => said.some((line) => line.startsWith('  … '))
  const value = await step('Packages', { always: false, print: (line) => void said.push(line), heartbeatMs: 5 }, async (progress) => {
    progress('npm ci', 90)
    await expect.poll(isMentioned).toBe(true)
    return { found: '3 packages', value: 7 }
  })
  expect(value).toBe(7)
  expect(said.slice(0, 3)).toEqual(['▸ Packages', '  npm ci: about 90 s', '  … 0 s, about 90 s left'])
  expect(said.at(-1)).toMatch(/^✓ Packages: 3 packages \(\d/)
})
