import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webSearchTool } from '../../../services/adapters/tools/web-search.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { renderResponse } from '../../../services/model/responses/render-response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { startScriptedBrave, type BraveAnswer, type ScriptedBrave } from '../../support/scripted-brave.ts'
import { call, say, type Script } from '../../support/scripted-upstream.ts'
import { startTurnBench, type TurnBench } from '../../support/turn-bench.ts'
import type { SearchItem } from '../../../services/model/responses/items/web-search-call.ts'

let bench: TurnBench
let brave: ScriptedBrave
beforeAll(async () => {
  ;[bench, brave] = await Promise.all([startTurnBench(), startScriptedBrave()])
})
afterAll(() => Promise.all([bench.stop(), brave.stop()]))

const SEARCH = { tools: [{ type: 'web_search' }], input: 'Who won?' }
const search = (query: string) => call({ name: 'web_search', arguments: JSON.stringify({ query }) })
/** Searches once, then answers with this text. */
const searchThenSay =
  (text: string): Script =>
  ({ body }) =>
    body.messages.at(-1)?.role === 'tool' ? say(text) : search('final 2026')

async function finish(request: Parameters<TurnBench['accept']>[0], setting = brave.setting): Promise<ResponseRecord> {
  const { id } = await bench.accept(request)
  for (let round = 0; round < 5; round += 1) {
    await bench.step(id, { tools: [webSearchTool(setting)] })
    const row = await bench.row(id)
    if (hasResponseEnded(row.status)) return row
  }
  throw new Error('The response does not end')
}
const firstSearch = (row: ResponseRecord): SearchItem => row.items.find((item) => item.type === 'web_search_call') as SearchItem
const lastToolMessage = (): string => String(bench.upstream.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool')?.content)

describe('web_search', () => {
  it("searches, sends the results to the model and cites sources named in the answer, in the wire's order", async () => {
    brave.play(() => ({
      results: [
        {
          title: 'The <strong>final</strong>',
          url: 'https://news.example/final',
          description: 'Rome &amp; Oslo: <strong>3:2</strong>',
          age: '2 days ago',
        },
        { title: 'Other', url: 'https://news.example/final/other', extra_snippets: ['One.', 'Two.'] },
      ],
    }))
    bench.upstream.play(searchThenSay('Rome, see [1](https://news.example/final). Also https://news.example/final/other.'))
    const row = await finish({ ...SEARCH, include: ['web_search_call.action.sources'] })
    expect(row).toMatchObject({ status: 'completed', toolCalls: 1 })
    expect(brave.requests).toEqual([
      {
        path: '/res/v1/web/search',
        token: brave.setting.apiKey,
        query: { q: 'final 2026', count: '6', result_filter: 'web', text_decorations: 'false' },
      },
    ])
    expect(lastToolMessage()).toBe(
      '[1] The final (2 days ago)\nhttps://news.example/final\nRome & Oslo: 3:2\n\n[2] Other\nhttps://news.example/final/other\nOne. Two.',
    )
    const output = renderResponse(row, { include: ['web_search_call.action.sources'] })['output'] as Record<string, unknown>[]
    const sources = [
      { type: 'url', url: 'https://news.example/final' },
      { type: 'url', url: 'https://news.example/final/other' },
    ]
    expect(output[0]).toMatchObject({
      id: expect.stringMatching(/^ws_/) as string,
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'final 2026', queries: ['final 2026'], sources },
    })
    const [message] = row.items.slice(-1)
    if (message?.type !== 'message') throw new Error('no message')
    expect(message.citations.map((place) => ['url' in place && place.title, message.text.slice(place.startIndex, place.endIndex)])).toEqual(
      [
        ['The final', 'https://news.example/final'],
        ['Other', 'https://news.example/final/other'],
      ],
    )
    const events = await bench.events(row.id)
    checkResponseStream(events, row)
    expect(events.slice(2, 7).map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
    ])
    expect(
      events.filter(({ type }) => type === 'response.output_text.annotation.added').map(({ data }) => data['annotation']),
    ).toMatchObject([
      { type: 'url_citation', title: 'The final', url: 'https://news.example/final' },
      { type: 'url_citation', title: 'Other' },
    ])
  })

  it('omits sources unless the request includes them', async () => {
    brave.play(() => ({ results: [{ title: 'A', url: 'https://a.example/' }] }))
    bench.upstream.play(searchThenSay('Done.'))
    const row = await finish(SEARCH)
    const [item] = renderResponse(row, { include: [] })['output'] as { readonly action: object }[]
    expect(item?.action).not.toHaveProperty('sources')
  })

  it('applies context size, location and domains', async () => {
    brave.play(() => ({
      results: [
        { title: 'In', url: 'https://docs.example.org/x' },
        { title: 'Out', url: 'https://example.org.evil.example/x' },
      ],
    }))
    bench.upstream.play(searchThenSay('Done.'))
    const tool = {
      type: 'web_search_preview',
      search_context_size: 'low',
      external_web_access: true,
      user_location: { type: 'approximate', country: 'de', city: 'Berlin', timezone: 'Europe/Berlin' },
      filters: { allowed_domains: ['example.org', 'nonsense!'] },
    }
    const row = await finish({ ...SEARCH, tools: [tool], toolChoice: { type: 'web_search_preview' } })
    expect(brave.requests[0]?.query).toMatchObject({ q: 'final 2026 (site:example.org)', count: '3', country: 'DE' })
    expect(bench.upstream.requests[0]?.body.tool_choice).toEqual({ type: 'function', function: { name: 'web_search' } })
    expect(firstSearch(row).sources).toEqual([{ title: 'In', url: 'https://docs.example.org/x' }])
  })

  it.each(['constructor', '__proto__', 'huge', 7])('uses the default context size for %j', async (size) => {
    brave.play(() => ({ results: [] }))
    bench.upstream.play(searchThenSay('Done.'))
    await finish({ ...SEARCH, tools: [{ type: 'web_search', search_context_size: size }] })
    expect(brave.requests[0]?.query).toMatchObject({ count: '6' })
  })

  it('trims page descriptions', async () => {
    const results = Array.from({ length: 20 }, (_, i) => ({
      title: `T${i}`,
      url: `https://e.example/${i}`,
      description: 'word '.repeat(2_000),
    }))
    brave.play(() => ({ results: [{ title: 'Long', url: `https://e.example/${'x'.repeat(3_000)}` }, ...results] }))
    bench.upstream.play(searchThenSay('Done.'))
    const row = await finish({ ...SEARCH, tools: [{ type: 'web_search', search_context_size: 'high' }] })
    expect(firstSearch(row).sources.map(({ title }) => title)).not.toContain('Long')
    expect(firstSearch(row).sources).toHaveLength(12)
    expect(lastToolMessage().length).toBeLessThan(12_100)
  })

  it.each<[string, BraveAnswer, string]>([
    ['a key that is refused', { status: 401 }, 'rejects the key'],
    ['too many searches', { status: 429 }, 'Too many searches'],
    ['a fault of the service', { status: 500 }, 'answered 500'],
    ['an answer that is no JSON', { body: '<html>' }, 'cannot be read'],
    ['an answer of another form', { body: '{"web":{"results":[{"title":1}]}}' }, 'cannot be read'],
  ])('reports %s to the model and continues the turn', async (_, answer, sentence) => {
    brave.play(() => answer)
    bench.upstream.play(searchThenSay('I could not search.'))
    const row = await finish(SEARCH)
    expect(row).toMatchObject({ status: 'completed', items: [{ type: 'web_search_call', status: 'failed' }, { type: 'message' }] })
    expect(lastToolMessage()).toContain(sentence)
    expect(lastToolMessage()).not.toContain(brave.setting.apiKey)
    checkResponseStream(await bench.events(row.id), row)
  })

  it('reports a failed search and an empty result to the model', async () => {
    bench.upstream.play(searchThenSay('I could not search.'))
    await finish(SEARCH, { ...brave.setting, baseUrl: 'http://127.0.0.1:1' })
    expect(lastToolMessage()).toContain('cannot be reached')
    brave.play(() => ({ body: '{"type":"search","query":{}}' }))
    expect(firstSearch(await finish(SEARCH))).toMatchObject({ status: 'completed', output: expect.stringContaining('Nothing was found') })
  })

  it('sends the results to the model again in later turns, by id and by replayed history', async () => {
    brave.play(() => ({ results: [{ title: 'A', url: 'https://a.example/', description: 'Alpha' }] }))
    bench.upstream.play(searchThenSay('Done.'))
    const row = await finish(SEARCH)
    const seen = () => bench.upstream.requests.at(-1)?.body.messages.find(({ role }) => role === 'tool')?.content
    bench.upstream.play(() => say('Again.'))
    await bench.finish((await bench.accept({ input: 'And?' }, row.id)).id)
    expect(seen()).toContain('Alpha')
    const replay = [...(renderResponse(row, { include: [] })['output'] as Record<string, unknown>[]), { role: 'user', content: 'And?' }]
    await bench.finish((await bench.accept({ input: replay })).id)
    expect(seen()).toContain('Alpha')
  })
})
