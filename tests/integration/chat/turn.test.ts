import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadForRendering } from '../../../services/operations/turns/inline-images.ts'
import { renderResponse } from '../../../services/model/responses/render-response.ts'
import { hashToken } from '../../../services/operations/links/create-link.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type RunCode, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

const types = async (id: string): Promise<string[]> =>
  (await bench.events(id)).map((event) => event.type.replace('response.', '').replace('code_interpreter_call', 'ci'))

describe('a turn without tools', () => {
  it('streams the answer in the order of the wire', async () => {
    bench.upstream.play(() => say('Hello, world. How are you?'))
    const { id } = await bench.accept({ input: 'Hi', instructions: 'Be kind.' })
    const row = await bench.finish(id)
    expect(row).toMatchObject({ status: 'completed', containerId: null, usage: { inputTokens: 100, cachedTokens: 40, outputTokens: 10 } })
    expect(row.items).toMatchObject([{ type: 'message', status: 'completed', text: 'Hello, world. How are you?', phase: 'final_answer' }])
    const events = await bench.events(id)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i))
    const seen = await types(id)
    expect(seen.slice(0, 5)).toEqual(['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta'])
    expect(seen.slice(-4)).toEqual(['output_text.done', 'content_part.done', 'output_item.done', 'completed'])
    expect(
      events
        .filter((event) => event.type === 'response.output_text.delta')
        .map((event) => event.data['delta'])
        .join(''),
    ).toBe('Hello, world. How are you?')
    expect(row.tailEvents.at(-1)?.type).toBe('response.completed')
    expect(bench.upstream.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      authorization: 'Bearer sk-scripted',
      body: {
        model: 'upstream-model',
        stream: true,
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    })
    expect(bench.upstream.requests[0]?.body.tools).toBeUndefined()
  })

  it('sends queued after created for a background response', async () => {
    bench.upstream.play(() => say('Done.'))
    const { id } = await bench.accept({ background: true })
    await bench.finish(id)
    expect((await types(id)).slice(0, 3)).toEqual(['created', 'queued', 'in_progress'])
  })
})

describe('a turn with code', () => {
  it('runs the code, returns the result to the model and answers', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('print(6 * 7)') : say('It is 42.')))
    const { id } = await bench.accept({ ...INTERPRETER, include: ['code_interpreter_call.outputs'] })
    const row = await bench.finish(id, (code) => {
      expect(code).toBe('print(6 * 7)')
      return {
        result: {
          stdout: '42\n',
          cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: '42\n' }] }],
        },
      }
    })
    expect(await types(id)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'ci.in_progress',
      'ci_code.delta',
      'ci_code.done',
      'ci.interpreting',
      'ci.completed',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    expect(row.containerId).toMatch(/^cntr_/)
    expect(await bench.storage.table.containers.get(bench.tenant, row.containerId ?? '')).toMatchObject({
      id: row.containerId,
      name: 'auto',
      queue: [],
    })
    expect(row.items).toMatchObject([
      {
        type: 'code_interpreter_call',
        status: 'completed',
        code: 'print(6 * 7)',
        containerId: row.containerId,
        outcome: { logs: '42', status: 'succeeded' },
      },
      { type: 'message', text: 'It is 42.' },
    ])
    const done = (await bench.events(id)).find((event) => event.type === 'response.output_item.done')
    expect(done?.data['item']).toMatchObject({
      outputs: [{ type: 'logs', logs: '42' }],
      x_cellblock: { status: 'succeeded', usage: { run_ms: 3 } },
    })
    const second = bench.upstream.requests[1]?.body.messages.slice(-2)
    expect(second).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'python', arguments: '{"code":"print(6 * 7)"}' } }] },
      { role: 'tool', content: expect.stringContaining('42') },
    ])
  })

  it('starts no sandbox when no code runs', async () => {
    bench.upstream.play(() => say('No code needed.'))
    const { id } = await bench.accept(INTERPRETER)
    expect(await bench.finish(id)).toMatchObject({ status: 'completed', containerId: null })
  })

  it('runs several calls of one answer one after another', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('a = 1', 'print(a)') : say('Both ran.')))
    const { id } = await bench.accept(INTERPRETER)
    const ran: string[] = []
    const row = await bench.finish(id, (code) => {
      ran.push(code)
      return {}
    })
    expect(ran).toEqual(['a = 1', 'print(a)'])
    expect(row.items.map((item) => item.status)).toEqual(['completed', 'completed', 'completed'])
    expect(row.toolCalls).toBe(2)
  })

  it('replaces paths with working links and cites the file', async () => {
    bench.upstream.play((_, turn) =>
      turn === 0 ? runPython('save()') : say('See [plot](sandbox:/mnt/data/plot.png), also /mnt/data/other.csv and notes.txt.', 3),
    )
    const { id } = await bench.accept(INTERPRETER)
    const row = await bench.finish(id, () => ({ files: { 'plot.png': 'PNG', 'notes.txt': 'hi' } }))
    const [ci, message] = row.items
    if (message?.type !== 'message' || ci?.type !== 'code_interpreter_call') throw new Error('unexpected items')
    expect(message.text).toMatch(/^See \[plot\]\(http:\/\/localhost:8787\/d\/[\w-]{43}\), also \/mnt\/data\/other\.csv and notes\.txt\.$/)
    expect(message.citations.map((citation) => message.text.slice(citation.startIndex, citation.endIndex))).toEqual([
      expect.stringMatching(/^http.*\/d\//),
      'notes.txt',
    ])
    const plot = ci.outcome?.files.find((file) => file.path === 'plot.png')
    expect(message.text).toContain(plot?.url)
    const events = await bench.events(id)
    expect(events.filter((event) => event.type.endsWith('annotation.added'))).toHaveLength(2)
    const streamed = events
      .filter((event) => event.type === 'response.output_text.delta')
      .map((event) => event.data['delta'])
      .join('')
    expect(streamed).toBe(message.text)
  })

  it('links images, both inline and in the object store', async () => {
    const png = Buffer.from('a picture')
    const { objects } = bench.storage
    await objects.put('tenants/t/c/outputs/big', Buffer.from('a big one'), { contentType: 'image/jpeg' })
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('plot()') : say('Two plots.')))
    const { id } = await bench.accept(INTERPRETER)
    const row = await bench.finish(id, () => ({
      result: {
        cells: [
          {
            index: 0,
            status: 'ok',
            executionCount: 1,
            outputs: [
              { output_type: 'display_data', data: { 'image/png': png.toString('base64'), 'text/plain': '<Figure>' }, metadata: {} },
              {
                output_type: 'display_data',
                data: { 'cellblock/ref': { objectKey: 'tenants/t/c/outputs/big', bytes: 9, mime: 'image/jpeg' } },
                metadata: {},
              },
              { output_type: 'execute_result', execution_count: 1, data: { 'text/html': '<b>x</b>', 'text/plain': 'x' }, metadata: {} },
            ],
          },
        ],
      },
    }))
    const [ci] = row.items
    const outcome = ci?.type === 'code_interpreter_call' ? ci.outcome : null
    expect(outcome).toMatchObject({
      logs: 'x',
      images: [{ mime: 'image/png' }, { mime: 'image/jpeg' }],
    })
    const [small, big] = outcome?.images ?? []
    expect(outcome?.outputs).toEqual([
      { 'text/plain': '<Figure>', 'cellblock/ref': { url: small?.url, bytes: 9, mime: 'image/png', link_id: small?.linkId } },
      { 'cellblock/ref': { url: big?.url, bytes: 9, mime: 'image/jpeg', link_id: big?.linkId } },
      { 'text/html': '<b>x</b>', 'text/plain': 'x' },
    ])
    const bodies = await Promise.all(
      (outcome?.images ?? []).map(async ({ url }) => {
        const link = await bench.storage.table.links.findByToken(hashToken(url.slice(url.lastIndexOf('/') + 1)))
        const object = await objects.get(link?.target.objectKey ?? '')
        let text = ''
        for await (const chunk of object?.body ?? []) text += Buffer.from(chunk).toString()
        return text
      }),
    )
    expect(bodies).toEqual(['a picture', 'a big one'])
  })

  it('contains images as data URLs up to the limit of a response, and links for the others', async () => {
    const { objects } = bench.storage
    const small = Buffer.from('a picture')
    const sizes = [small.length, 3 * 1024 * 1024, 9]
    const outputs = sizes.map((bytes, index) => ({
      output_type: 'display_data' as const,
      data: { 'cellblock/ref': { objectKey: `tenants/t/c/outputs/plot-${index}`, bytes, mime: 'image/png' } },
      metadata: {},
    }))
    for (const index of sizes.keys()) await objects.put(`tenants/t/c/outputs/plot-${index}`, small, { contentType: 'image/png' })
    const run: RunCode = () => ({ result: { cells: [{ index: 0, status: 'ok', executionCount: 1, outputs }] } })
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('plot()') : say('Plots.')))
    const include = ['code_interpreter_call.outputs']
    const { id } = await bench.accept({ ...INTERPRETER, include })
    const row = await bench.finish(id, run)

    const dataUrl = `data:image/png;base64,${small.toString('base64')}`
    const link = expect.stringMatching(/^http:/) as unknown
    const [first, second, third] = [dataUrl, link, dataUrl].map((url) => ({ type: 'image', url }))
    const done = (await bench.events(id)).find((event) => event.type === 'response.output_item.done')
    expect(done?.data['item']).toMatchObject({
      outputs: [first, second, third],
      x_cellblock: { images: [{ url: link }, { url: link }, { url: link }] },
    })
    const rendered = renderResponse(await loadForRendering(objects, row, include), { include })
    expect(rendered['output']).toMatchObject([{ outputs: [first, second, third] }, { type: 'message' }])
    expect(JSON.stringify(row.items)).not.toContain('base64')
  })

  it('includes displayed data inline when it is small and as a link when it is large', async () => {
    const table = { schema: { fields: [{ name: 'a', type: 'integer' }] }, data: [{ a: 1 }] }
    const plotly = { data: [{ y: 'z'.repeat(40_000) }] }
    const svg = '<svg>'.padEnd(30_000, ' ')
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('show()') : say('Shown.')))
    const { id } = await bench.accept(INTERPRETER)
    const row = await bench.finish(id, () => ({
      result: {
        cells: [
          {
            index: 0,
            status: 'ok',
            executionCount: 1,
            outputs: [
              { output_type: 'execute_result', execution_count: 1, data: { 'application/vnd.dataresource+json': table }, metadata: {} },
              { output_type: 'display_data', data: { 'application/vnd.plotly.v1+json': plotly, 'image/svg+xml': [svg] }, metadata: {} },
            ],
          },
        ],
      },
    }))
    const [ci] = row.items
    const [small, big] = (ci?.type === 'code_interpreter_call' ? ci.outcome?.outputs : undefined) ?? []
    expect(small).toEqual({ 'application/vnd.dataresource+json': table })
    const refs = big?.['cellblock/ref'] as { readonly url: string; readonly mime: string; readonly bytes: number }[]
    expect(refs.map(({ mime, bytes }) => [mime, bytes])).toEqual([
      ['application/vnd.plotly.v1+json', JSON.stringify(plotly).length],
      ['image/svg+xml', svg.length],
    ])
    for (const { url } of refs) {
      const link = await bench.storage.table.links.findByToken(hashToken(url.slice(url.lastIndexOf('/') + 1)))
      expect(await bench.storage.objects.head(link?.target.objectKey ?? '')).toMatchObject({ bytes: link?.target.bytes })
    }
  })

  it("creates links with the lifetime of the tenant's policy and shows their ids", async () => {
    const { tenants, links } = bench.storage.table
    await tenants.create({ v: 1, id: bench.tenant, name: 'policy', createdAt: Date.now() })
    await tenants.setPolicy(bench.tenant, { linkDays: 2 })
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('save()') : say('See [plot](sandbox:/mnt/data/plot.png).')))
    const { id } = await bench.accept(INTERPRETER)
    const output = { output_type: 'display_data' as const, data: { 'image/png': 'AAAA' }, metadata: {} }
    const cells = [{ index: 0, status: 'ok' as const, executionCount: 1, outputs: [output] }]
    const row = await bench.finish(id, () => ({ files: { 'plot.png': 'PNG' }, result: { cells } }))
    await tenants.setPolicy(bench.tenant, {})
    const [ci, message] = row.items
    if (message?.type !== 'message' || ci?.type !== 'code_interpreter_call') throw new Error('unexpected items')
    const [file] = ci.outcome?.files ?? []
    expect(message.citations).toMatchObject([{ linkId: file?.linkId, fileId: file?.id }])
    for (const linkId of [file?.linkId, ci.outcome?.images[0]?.linkId]) {
      const link = await links.get(bench.tenant, linkId ?? '')
      expect((link?.expiresAt ?? 0) - (link?.createdAt ?? 0)).toBe(2 * 86_400_000)
    }
  })

  it('stores a turn that is too large for a row', async () => {
    const code = `x = "${'y'.repeat(250_000)}"`
    bench.upstream.play((_, turn) => (turn === 0 ? runPython(code) : say('Big.')))
    const { id } = await bench.accept({ ...INTERPRETER, instructions: 'i'.repeat(200_000) })
    await bench.step(id)
    const { pending } = await bench.row(id)
    const execution = await bench.storage.table.executions.get(bench.tenant, pending?.executionId ?? '')
    expect(execution?.source).toMatchObject({ kind: 'blob', code: { bytes: code.length } })
    await finishExecution({ table: bench.storage.table, signals: bench.deps.signals }, bench.tenant, pending?.executionId ?? '')
    const row = await bench.finish(id)
    expect(row.itemsRef).not.toBeNull()
    expect(row).toMatchObject({ status: 'completed', items: [{ code }, { text: 'Big.' }] })
    // Readers derive the terminal event from the row.
    const events = await bench.events(id)
    expect(events.at(-1)?.type).toBe('response.output_item.done')
  })

  it('stores code as an object whose JSON form is too large for a row, although its text is not', async () => {
    const code = `# ${'\u0001'.repeat(120 * 1024)}\nprint(1)`
    bench.upstream.play((_, turn) => (turn === 0 ? runPython(code) : say('Done.')))
    const { id } = await bench.accept(INTERPRETER)
    await bench.step(id)
    const executionId = (await bench.row(id)).pending?.executionId ?? ''
    const execution = await bench.storage.table.executions.get(bench.tenant, executionId)
    expect(execution?.source).toMatchObject({ kind: 'blob', code: { bytes: Buffer.byteLength(code) } })
    await finishExecution({ table: bench.storage.table, signals: bench.deps.signals }, bench.tenant, executionId)
    expect(await bench.finish(id)).toMatchObject({ status: 'completed', items: [{ code }, { text: 'Done.' }] })
  })
})
