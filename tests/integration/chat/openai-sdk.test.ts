import type OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webSearchTool } from '../../../services/adapters/tools/web-search.ts'
import { startScriptedBrave, type ScriptedBrave } from '../../support/scripted-brave.ts'
import { call, say } from '../../support/scripted-upstream.ts'
import type { TestApi } from '../../support/start-api.ts'
import { startWorkedApi, type WorkedApi } from '../../support/start-worked-api.ts'

let worked: WorkedApi
let api: TestApi
let brave: ScriptedBrave
beforeAll(async () => {
  brave = await startScriptedBrave()
  worked = await startWorkedApi([webSearchTool(brave.setting)])
  api = worked.api
  worked.runs((code) => ({ files: { 'out/made.txt': code }, result: { stdout: `ran ${code}` } }))
})
afterAll(() => Promise.all([worked.stop(), brave.stop()]))

const request = {
  model: 'demo',
  input: '```python\nprint(1)\n```',
  tools: [{ type: 'code_interpreter' as const, container: { type: 'auto' as const } }],
  include: ['code_interpreter_call.outputs' as const],
}

describe('the official OpenAI client', () => {
  it('receives a whole turn in one reply, with a working link to the file', async () => {
    const response = await api.openai().responses.create(request)
    expect(response.status).toBe('completed')
    expect(response.output).toMatchObject([
      {
        type: 'code_interpreter_call',
        status: 'completed',
        code: 'print(1)\n',
        outputs: [{ type: 'logs', logs: expect.stringContaining('ran print(1)') }],
      },
      { type: 'message', status: 'completed' },
    ])
    const message = response.output[1]
    const part = message?.type === 'message' ? message.content[0] : undefined
    if (part?.type !== 'output_text') throw new Error('no text')
    const [citation] = part.annotations
    if (citation?.type !== 'container_file_citation') throw new Error('no citation')
    const url = part.text.slice(citation.start_index, citation.end_index)
    expect(citation.filename).toBe('made.txt')
    expect(await (await fetch(url)).text()).toBe('print(1)\n')
    const listed = await api.openai().containers.files.list(citation.container_id)
    expect(listed.data.map((file) => file.id)).toContain(citation.file_id)
  })

  it('receives the same result through a stream', async () => {
    const stream = api.openai().responses.stream(request)
    const seen: string[] = []
    let text = ''
    for await (const event of stream) {
      seen.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    const final = await stream.finalResponse()
    expect(final.output_text).toBe(text)
    expect(seen[0]).toBe('response.created')
    expect(seen.at(-1)).toBe('response.completed')
    expect(seen).toContain('response.code_interpreter_call_code.done')
  })

  it('searches the web in a plain and in a streamed response', async () => {
    const url = 'https://news.example/final'
    brave.play(() => ({ results: [{ title: 'The final', url }] }))
    const ask = {
      model: 'scripted',
      input: 'Who won?',
      tools: [{ type: 'web_search' as const, search_context_size: 'low' as const }],
      include: ['web_search_call.action.sources' as const],
    }
    worked.upstream.play(({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? say(`Rome, see ${url}.`) : call({ name: 'web_search', arguments: '{"query":"final"}' }),
    )
    const whole = await api.openai().responses.create(ask)
    const stream = api.openai().responses.stream(ask)
    const seen: string[] = []
    for await (const event of stream) seen.push(event.type)
    expect(seen).toEqual(expect.arrayContaining(['response.web_search_call.searching', 'response.web_search_call.completed']))
    for (const response of [whole, await stream.finalResponse()]) {
      expect(response.output_text).toBe(`Rome, see ${url}.`)
      expect(response.output).toMatchObject([
        { type: 'web_search_call', status: 'completed', action: { type: 'search', queries: ['final'], sources: [{ type: 'url', url }] } },
        { type: 'message', content: [{ annotations: [{ type: 'url_citation', title: 'The final', url, start_index: 10 }] }] },
      ])
    }
  })

  it('retrieves a background response later and resumes its stream', async () => {
    const client = api.openai()
    const { id, status } = await client.responses.create({ ...request, background: true })
    expect(status).toBe('queued')
    await expect.poll(async () => (await client.responses.retrieve(id)).status, { timeout: 10_000 }).toBe('completed')
    const numbers: number[] = []
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: 3 })) numbers.push(event.sequence_number)
    expect(numbers[0]).toBe(4)
    expect(numbers).toEqual(numbers.map((_, i) => i + 4))
  })

  it('continues a previous response in the same container', async () => {
    const client = api.openai()
    const first = await client.responses.create(request)
    const second = await client.responses.create({ ...request, previous_response_id: first.id })
    const containerOf = (response: typeof first) =>
      response.output.flatMap((item) => (item.type === 'code_interpreter_call' ? [item.container_id] : []))
    expect(containerOf(second)).toEqual(containerOf(first))
  })

  it('keeps files with one name apart, however and whenever they are attached, and tells the model their names on disk', async () => {
    const client = api.openai()
    const upload = async (text: string) => (await client.files.create({ file: new File([text], 'data.csv'), purpose: 'user_data' })).id
    const [first, second, later] = [await upload('january'), await upload('february'), await upload('march')]
    const inline = {
      type: 'input_file' as const,
      filename: 'data.csv',
      file_data: `data:text/csv;base64,${Buffer.from('april').toString('base64')}`,
    }
    const text = { type: 'input_text' as const, text: '```python\nprint(1)\n```' }
    const ask = (fileIds: string[], content: OpenAI.Responses.ResponseInputContent[], more: object = {}) =>
      client.responses.create({
        ...request,
        ...more,
        tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: fileIds } }],
        input: [{ role: 'user', content: [...content, text] }],
      })
    const contents = async (response: OpenAI.Responses.Response): Promise<Map<string, string>> => {
      const call = response.output.find((item) => item.type === 'code_interpreter_call')
      const { data } = await client.containers.files.list(call?.container_id ?? '')
      const read = data
        .filter(({ source }) => source === 'user')
        .map(async (file): Promise<[string, string]> => [
          await (await client.containers.files.content.retrieve(file.id, { container_id: call?.container_id ?? '' })).text(),
          file.path.replace('/mnt/data/', ''),
        ])
      return new Map(await Promise.all(read))
    }
    const one = await ask([first], [{ type: 'input_file', file_id: second }, inline])
    const stored = await contents(one)
    expect([...stored.keys()].toSorted()).toEqual(['april', 'february', 'january'])
    expect(stored.get('february')).toBe('data.csv')
    expect(new Set(stored.values()).size).toBe(3)
    const two = await ask([later], [], { previous_response_id: one.id })
    const after = await contents(two)
    expect([...after].filter(([content]) => content !== 'march').toSorted()).toEqual([...stored].toSorted())
    expect(after.get('march')).toMatch(/^data-[0-9a-f]{8}\.csv$/)
    // A repetition adds none.
    expect(await contents(await ask([later], [], { previous_response_id: two.id }))).toEqual(after)
  })

  it('copies attached files to a new or an existing container', async () => {
    const client = api.openai()
    const data = await client.files.create({ file: new File(['a,b'], 'attached.csv'), purpose: 'user_data' })
    const ask = (container: string | { type: 'auto'; file_ids?: string[] }) =>
      client.responses.create({
        ...request,
        tools: [{ type: 'code_interpreter', container }],
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_file', file_id: data.id },
              { type: 'input_text', text: '```python\nprint(1)\n```' },
            ],
          },
        ],
      })
    const named = await client.containers.create({ name: 'named' })
    for (const container of [{ type: 'auto' as const }, { type: 'auto' as const, file_ids: [data.id] }, named.id]) {
      const response = await ask(container)
      const call = response.output.find((item) => item.type === 'code_interpreter_call')
      const files = (await client.containers.files.list(call?.container_id ?? '')).data
      expect(files.filter((file) => file.path === '/mnt/data/attached.csv')).toHaveLength(1)
      if (typeof container === 'string') expect(call?.container_id).toBe(container)
      const [asked] = (await client.responses.inputItems.list(response.id)).data
      expect(asked).toMatchObject({ content: [{ type: 'input_file', file_id: data.id, filename: 'attached.csv' }, {}] })
    }
  })
})
