import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderResponse } from '../../../services/model/responses/render-response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { runPython, say, type UpstreamRequest } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

/** A strict token count: one token per three bytes. */
const tokens = ({ body }: UpstreamRequest): number => JSON.stringify(body.messages).length / 3
const LONG = 'many words about it '.repeat(300)

/** An endpoint with an unknown context window, which refuses longer requests with its own error. */
const smallWindow = (window: number, message: string, code: string | null) =>
  bench.upstream.play((request) => (tokens(request) > window ? { deltas: [], status: 400, error: { message, code } } : say('It fits.')))

describe('a conversation longer than the context window', () => {
  it('continues for many turns and reports what was omitted from the model input', async () => {
    bench.upstream.play(({ body }) => say(`${body.messages.length} messages. ${LONG}`, 400))
    let last: string | undefined
    for (let turn = 0; turn < 6; turn += 1) {
      const { id } = await bench.accept({ model: 'small', input: `Question ${turn}`, include: ['x_cellblock.events'] }, last)
      const row = await bench.finish(id)
      expect(row).toMatchObject({ status: 'completed', error: null })
      expect(row.contextCut === null).toBe(turn < 2)
      last = id
    }
    const row = await bench.row(last ?? '')
    const { context } = renderResponse(row, { include: [] })['x_cellblock'] as { readonly context: unknown }
    expect(context).toMatchObject({ window_tokens: 4_000, dropped_turns: expect.any(Number), whole_history: true })
    const events = await bench.events(row.id)
    expect(events.filter((event) => event.type === 'keepalive')).toMatchObject([
      { data: { x_cellblock: { type: 'context_cut', context } } },
    ])
    checkResponseStream(events, row)
    const sent = bench.upstream.requests.at(-1)?.body.messages ?? []
    expect(sent[0]).toMatchObject({ role: 'system', content: expect.stringContaining('earlier turns of this conversation left out') })
    expect(sent.at(-1)).toMatchObject({ role: 'user', content: 'Question 5' })
    expect(tokens(bench.upstream.requests.at(-1) as UpstreamRequest)).toBeLessThan(4_000)
  })

  it('truncates earlier tool results to head and tail and sends the latest in full', async () => {
    const codes = Array.from({ length: 8 }, (_, i) => `step(${i})`)
    bench.upstream.play((_, turn) => (turn < codes.length ? runPython(codes[turn] ?? '') : say('Done.')))
    const { id } = await bench.accept({ ...INTERPRETER, model: 'small', input: 'Work' })
    const row = await bench.finish(id, (code) => ({ result: { stdout: `${code} begins\n${'data '.repeat(500)}\n${code} ends\n` } }))
    expect(row).toMatchObject({ status: 'completed', toolCalls: 8 })
    const sent = bench.upstream.requests.at(-1)?.body.messages ?? []
    expect(sent.find((message) => message.role === 'user')).toMatchObject({ content: 'Work' })
    const results = sent.filter((message) => message.role === 'tool').map((message) => String(message.content))
    expect(results.at(-1)).toContain('step(7) begins')
    expect(results.at(-1)).toContain('step(7) ends')
    expect(row.contextCut).toMatchObject({ trimmedResults: expect.any(Number) })
    for (const request of bench.upstream.requests) expect(tokens(request)).toBeLessThan(4_000)
  })

  it('truncates a single message that exceeds the window', async () => {
    bench.upstream.play(() => say('Long.'))
    const { id } = await bench.accept({ model: 'small', input: `BEGIN ${'x'.repeat(200_000)} END` })
    const row = await bench.finish(id)
    expect(row).toMatchObject({ status: 'completed', contextCut: { shortenedTexts: 1 } })
    const sent = String(bench.upstream.requests[0]?.body.messages.at(-1)?.content)
    expect(sent).toMatch(/^BEGIN x+\n… \d+ characters left out …\nx+ END$/)
  })

  it('reserves max_output_tokens of the window for the answer', async () => {
    bench.upstream.play(() => say('Long.'))
    const { id } = await bench.accept({ model: 'small', input: 'x'.repeat(200_000), maxOutputTokens: 1_900 })
    expect(await bench.finish(id)).toMatchObject({ status: 'completed', contextCut: { shortenedTexts: 1 } })
    const [request] = bench.upstream.requests
    expect(request?.body['max_tokens']).toBe(1_900)
    expect(tokens(request as UpstreamRequest) + 1_900).toBeLessThan(4_000 * 1.3)
    expect(String(request?.body.messages.at(-1)?.content).length / 3.6 + 1_900).toBeLessThan(4_000)
  })

  it('reports nothing when nothing was omitted', async () => {
    bench.upstream.play(() => say('Short.'))
    const { id } = await bench.accept({})
    const row = await bench.finish(id)
    expect(renderResponse(row, { include: [] })['x_cellblock']).toMatchObject({ context: null })
    expect((await bench.events(id)).map((event) => event.type)).not.toContain('keepalive')
  })
})

describe('an endpoint with a smaller window than configured', () => {
  it.each([
    ['by the code of OpenAI', 'Too long.', 'context_length_exceeded'],
    ['in words, with the number', "This model's maximum context length is 2500 tokens. However, you requested 9000 tokens.", null],
    ['in words alone', 'input length exceeds the context window of this model', null],
    ['as Anthropic does', 'prompt is too long: 9000 tokens > 2500 maximum', 'invalid_request_error'],
  ])('receives a shorter request after it refused %s', async (_, message, code) => {
    smallWindow(2_500, message, code)
    const first = await bench.accept({ input: LONG })
    await bench.finish(first.id)
    const { id } = await bench.accept({ input: `${LONG}${LONG}\nAnd now?` }, first.id)
    const row = await bench.finish(id)
    expect(row).toMatchObject({ status: 'completed', items: [{ text: 'It fits.' }] })
    expect(row.contextCut).not.toBeNull()
    expect(row.contextCut?.windowTokens).toBeLessThan(16_000)
    expect(String(bench.upstream.requests.at(-1)?.body.messages.at(-1)?.content)).toContain('And now?')
    checkResponseStream(await bench.events(id), row)
  })

  it('fails the response with advice when it refuses every length', async () => {
    smallWindow(0, 'Too long.', 'context_length_exceeded')
    const { id } = await bench.accept({ input: LONG })
    const row = await bench.finish(id)
    expect(row).toMatchObject({
      status: 'failed',
      error: { code: 'context_length_exceeded', message: expect.stringContaining('Start a new conversation') },
    })
    expect(bench.upstream.requests.length).toBeLessThan(10)
  })

  it('receives no shorter request after an unrelated error', async () => {
    bench.upstream.play(() => ({ deltas: [], status: 400, error: { message: 'Unknown parameter: verbosity', code: 'unknown_parameter' } }))
    const { id } = await bench.accept({})
    expect(await bench.finish(id)).toMatchObject({ status: 'failed', error: { code: 'model_error' } })
    expect(bench.upstream.requests).toHaveLength(1)
  })
})
