import { withStores } from '../../support/with-stores.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerTool } from '../../../services/ports/tool.ts'
import type { ResponseRequest } from '../../../services/model/responses/response.ts'
import { checkResponseStream } from '../../support/check-response-stream.ts'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, storeFile, type TurnBench } from '../../support/turn-bench.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

describe('cancelling a response', () => {
  it('ends a turn that waits for code and cancels the execution', async () => {
    bench.upstream.play(() => runPython('slow()'))
    const { id } = await bench.accept({ ...INTERPRETER, background: true })
    await bench.step(id)
    const { pending } = await bench.row(id)
    await bench.storage.table.responses.requestCancel(bench.tenant, id, Date.now())
    await bench.step(id)
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'cancelled', pending: null, items: [{ status: 'incomplete' }] })
    // No sandbox has received it, so it ends with the turn instead of when a worker takes it.
    expect(await bench.storage.table.executions.get(bench.tenant, pending?.executionId ?? '')).toMatchObject({
      status: 'cancelled',
      reason: 'caller',
      endedAt: expect.any(Number),
    })
    checkResponseStream(await bench.events(id), row)
  })

  // The message about the cancel arrives while another worker holds the lease.
  it.each([
    { moment: 'before its code is handed over', commits: 1 },
    { moment: 'while the row is given back', commits: 2 },
  ])('takes effect when the request arrives $moment', async ({ commits }) => {
    bench.upstream.play(() => runPython('slow()'))
    const { id } = await bench.accept({ ...INTERPRETER, background: true })
    const { responses } = bench.storage.table
    let left = commits
    const cancelled = {
      ...responses,
      commit: async (...args: Parameters<typeof responses.commit>) => {
        if (args[1].pending && --left === 0) await responses.requestCancel(bench.tenant, id, Date.now())
        return responses.commit(...args)
      },
    }
    await bench.step(id, { table: withStores(bench.storage.table, { responses: cancelled }) })
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'cancelled', pending: null, items: [{ status: 'incomplete' }] })
    checkResponseStream(await bench.events(id), row)
  })

  it('stops a model call that is still streaming', async () => {
    const gate = Promise.withResolvers<void>()
    bench.upstream.play(() => ({ ...say('Let me think'), gate: gate.promise }))
    const { id } = await bench.accept({ background: true })
    const working = bench.step(id)
    await expect.poll(async () => (await bench.events(id)).some((event) => event.type.endsWith('delta'))).toBe(true)
    await bench.storage.table.responses.requestCancel(bench.tenant, id, Date.now())
    await working
    gate.resolve()
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'cancelled', items: [{ status: 'incomplete', text: 'Let me think' }] })
    checkResponseStream(await bench.events(id), row)
  })

  it('ends a turn that no worker has started', async () => {
    bench.upstream.play(() => say('never'))
    const { id } = await bench.accept({ background: true })
    await bench.storage.table.responses.requestCancel(bench.tenant, id, Date.now())
    expect(await bench.finish(id)).toMatchObject({ status: 'cancelled', items: [] })
    expect(bench.upstream.requests).toHaveLength(0)
  })
})

describe('the first text of an answer', () => {
  it('is in the event log before the model has finished', async () => {
    const gate = Promise.withResolvers<void>()
    bench.upstream.play(() => ({ ...say('First words'), gate: gate.promise }))
    const { id } = await bench.accept({})
    const working = bench.step(id)
    await expect
      .poll(async () =>
        (await bench.events(id))
          .filter((event) => event.type.endsWith('delta'))
          .map((event) => event.data['delta'])
          .join(''),
      )
      .toBe('First words')
    expect((await bench.row(id)).status).toBe('in_progress')
    gate.resolve()
    await working
  })
})

describe('a turn with running code', () => {
  it('releases its lease and makes no calls until the code has ended', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('slow()') : say('Done.')))
    const { id } = await bench.accept(INTERPRETER)
    await bench.step(id)
    await bench.step(id)
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'in_progress', lease: null, items: [{ status: 'interpreting' }] })
    expect(row.dueAt).toBeGreaterThan(Date.now())
    expect(bench.upstream.requests).toHaveLength(1)
    expect(await bench.finish(id)).toMatchObject({ status: 'completed' })
  })

  it('reports a deleted container to the model', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('x') : say('It is gone.')))
    const { id } = await bench.accept({
      ...INTERPRETER,
      interpreter: { containerId: 'cntr_00000000000000000000000000', memoryTier: '1g', fileIds: [] },
    })
    const row = await bench.finish(id)
    expect(row).toMatchObject({
      status: 'completed',
      items: [{ status: 'failed', outcome: { reason: 'container_not_found', executionId: null } }, { text: 'It is gone.' }],
    })
    expect(String(bench.upstream.requests[1]?.body.messages.at(-1)?.content)).toContain('No container')
    checkResponseStream(await bench.events(id), row)
  })
})

describe('function tools', () => {
  const weather = {
    type: 'function',
    name: 'get_weather',
    description: 'Weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  }

  it('of the caller end the response, and the next request continues with their output', async () => {
    bench.upstream.play(({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? say('Sunny.') : call({ name: 'get_weather', arguments: '{"city":"Rome"}' }),
    )
    const request: Partial<ResponseRequest> = { tools: [weather], input: 'Weather in Rome?' }
    const first = await bench.accept(request)
    const row = await bench.finish(first.id)
    expect(row).toMatchObject({
      status: 'completed',
      items: [{ type: 'function_call', callId: 'call_get_weather_0', arguments: '{"city":"Rome"}', status: 'completed' }],
    })
    checkResponseStream(await bench.events(first.id), row)
    const second = await bench.accept(
      { ...request, input: [{ type: 'function_call_output', call_id: 'call_get_weather_0', output: 'sunny' }] },
      first.id,
    )
    expect(await bench.finish(second.id)).toMatchObject({ items: [{ text: 'Sunny.' }] })
    expect(bench.upstream.requests.at(-1)?.body.messages).toMatchObject([
      { role: 'user', content: 'Weather in Rome?' },
      { role: 'assistant', tool_calls: [{ id: 'call_get_weather_0' }] },
      { role: 'tool', tool_call_id: 'call_get_weather_0', content: 'sunny' },
    ])
  })

  it('of this server run within the turn', async () => {
    const shout: ServerTool = {
      answeredBy: 'server',
      type: 'shout',
      name: 'shout',
      description: 'Shouts',
      parameters: { type: 'object' },
      limits: { timeoutMs: 1_000, maxResultChars: 100 },
      execute: async (args) => ({ kind: 'text', text: String(args['text']).toUpperCase(), isError: false }),
    }
    bench.upstream.play(({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? say('Shouted.') : call({ name: 'shout', arguments: '{"text":"hi"}' }),
    )
    const { id } = await bench.accept({ tools: [{ type: 'shout' }] })
    await bench.step(id, { tools: [shout] })
    const row = await bench.row(id)
    expect(row).toMatchObject({ status: 'completed', items: [{ type: 'function_call', output: 'HI' }, { text: 'Shouted.' }] })
    checkResponseStream(await bench.events(id), row)
  })
})

describe('a conversation', () => {
  it('continues in the container of the previous turn and shows the model paths instead of links', async () => {
    bench.upstream.play(({ body }) => {
      const last = body.messages.at(-1)
      if (last?.role === 'tool') return say('Saved [x](sandbox:/mnt/data/x.csv).')
      return body.messages.length < 4 ? runPython('make()') : say('You saved [x](sandbox:/mnt/data/x.csv).')
    })
    const first = await bench.accept({ ...INTERPRETER, input: 'Make x' })
    const made = await bench.finish(first.id, () => ({ files: { 'x.csv': 'a' } }))
    const second = await bench.accept({ ...INTERPRETER, input: 'Which file?' }, first.id)
    const row = await bench.finish(second.id)
    const seen = bench.upstream.requests.at(-1)?.body.messages ?? []
    expect(seen.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
    expect(seen[4]?.content).toBe('Saved [x](sandbox:/mnt/data/x.csv).')
    expect(String(seen[0]?.content)).toContain('"x.csv" (1 bytes, made by code)')
    expect(row.items).toMatchObject([
      {
        text: expect.stringMatching(/^You saved \[x\]\(http:\/\/localhost:8787\/d\/[\w-]+\)\.$/),
        citations: [{ containerId: made.containerId, filename: 'x.csv' }],
      },
    ])
  })

  it('starts a turn only after the previous turn has ended', async () => {
    bench.upstream.play(() => say('Hi.'))
    const first = await bench.accept({})
    const second = await bench.accept({}, first.id)
    await bench.step(second.id)
    expect(bench.upstream.requests).toHaveLength(0)
    expect(await bench.row(second.id)).toMatchObject({ lease: null, items: [] })
    await bench.finish(first.id)
    expect(await bench.finish(second.id)).toMatchObject({ status: 'completed' })
  })

  it('creates its container with the requested files when code runs', async () => {
    const owner = { tenant: bench.tenant, containerId: 'cntr_elsewhere0000000000000000', id: null }
    const file = await storeFile(bench.storage, owner, 'sales.csv', 'a,b\n1,2\n')
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('read()') : say('Read.')))
    const { id } = await bench.accept({ ...INTERPRETER, interpreter: { ...INTERPRETER.interpreter, fileIds: [file.id] } })
    const row = await bench.finish(id)
    expect(String(bench.upstream.requests[0]?.body.messages[0]?.content)).toContain('"sales.csv" (8 bytes, uploaded by the user)')
    expect(await bench.storage.table.files.all(bench.tenant, row.containerId ?? '')).toMatchObject([
      { path: 'sales.csv', source: 'user', isCurrent: true },
    ])
  })
})

describe('the demo model', () => {
  it('runs the fenced code blocks of the message and names the files', async () => {
    const { id } = await bench.accept({
      ...INTERPRETER,
      model: 'demo',
      input: 'Please:\n```python\nprint(1)\n```\nand\n```python\nopen("f.txt","w")\n```',
    })
    const ran: string[] = []
    const row = await bench.finish(id, (code) => {
      ran.push(code)
      return ran.length === 1 ? { result: { stdout: '1\n' } } : { files: { 'f.txt': 'x' } }
    })
    expect(ran).toEqual(['print(1)\n', 'open("f.txt","w")\n'])
    const last = row.items.at(-1)
    const text = last?.type === 'message' ? last.text : ''
    expect(text).toContain('not a language model')
    expect(text).toContain('stdout:\n1')
    expect(text).toMatch(/\[f\.txt\]\(http:\/\/localhost:8787\/d\//)
    checkResponseStream(await bench.events(id), row)
  })

  it('explains how to use it when the message contains no code', async () => {
    const { id } = await bench.accept({ model: 'demo', input: 'What is the weather?' })
    const row = await bench.finish(id)
    expect(row.items).toMatchObject([{ text: expect.stringContaining('OPENAI_API_KEY') }])
  })
})
