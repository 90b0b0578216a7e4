import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerText, type LinkableFile } from '../../../services/workers/turn/answer/answer-text.ts'

const file = (path: string, isFresh = true): LinkableFile => ({
  fileId: `id-${path}`,
  containerId: 'cntr_1',
  path,
  isFresh,
  link: async () => ({ url: `https://h/d/${Buffer.from(path).toString('hex')}`, id: `link-${path}` }),
})

async function write(pieces: readonly string[], files: readonly LinkableFile[]) {
  const text = new AnswerText(files)
  let streamed = ''
  for (const piece of pieces) streamed += await text.push(piece)
  streamed += await text.end()
  expect(streamed).toBe(text.text)
  return {
    text: text.text,
    cited: text.citations.map((citation) => [
      'fileId' in citation ? citation.fileId : citation.url,
      text.text.slice(citation.startIndex, citation.endIndex),
    ]),
  }
}

describe('AnswerText', () => {
  it('cites each link and each new file named without one', async () => {
    const { text, cited } = await write(
      ['😀 [a](sandbox:/mnt/data/a.png) and `b.csv`, not old.txt'],
      [file('a.png'), file('sub/b.csv'), file('old.txt', false)],
    )
    expect(text).toBe('😀 [a](https://h/d/612e706e67) and `b.csv`, not old.txt')
    expect(cited).toEqual([
      ['id-a.png', 'https://h/d/612e706e67'],
      ['id-sub/b.csv', 'b.csv'],
    ])
  })

  it('does not match a file name inside a longer name', async () => {
    expect((await write(['my-b.csv b.csvx x/b.csv b.csv.gz'], [file('b.csv')])).cited).toEqual([])
  })

  it('cites the same for every split of the answer', async () => {
    const files = [file('a.png'), file('sub/b.csv')]
    const whole = '/mnt/data/a.png [x](sandbox:/mnt/data/sub/b.csv) a.png /mnt/data/none'
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (size) => {
        expect(await write(whole.match(new RegExp(`.{1,${size}}`, 'g')) ?? [], files)).toEqual(await write([whole], files))
      }),
    )
  })
})
