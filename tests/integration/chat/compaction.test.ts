import type { ResponseInput } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body
const compact = (change: Partial<Parameters<typeof fixture.client.responses.compact>[0]>) =>
  fixture.client.responses.compact({ model: 'scripted', ...change })

describe('POST /v1/responses/compact', () => {
  it('replaces a chain of responses by the messages of its user and a summary', async () => {
    inOrder(runPython('6 * 7'), say('It is 42.'))
    const first = await ask({ input: 'Multiply six by seven.', tools: codeTools })
    inOrder(say('You are welcome.'))
    const second = await ask({ input: 'Thank you.', previous_response_id: first.id })

    inOrder(say('The user wanted 6 * 7. Code showed 42.'))
    const compacted = await compact({ previous_response_id: second.id })
    expect(compacted).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response.compaction',
      created_at: expect.any(Number),
      output: [
        {
          type: 'message',
          role: 'user',
          id: expect.stringMatching(/^msg_/),
          content: [{ type: 'input_text', text: 'Multiply six by seven.' }],
        },
        { type: 'message', role: 'user', content: [{ text: 'Thank you.' }] },
        { type: 'compaction', id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
      ],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    })
    expect(JSON.stringify(sent()?.messages)).toMatch(/6 \* 7[^]*ran[^]*You are welcome[^]*Write a summary/)
    expect(sent()).not.toHaveProperty('tools')
    expect(sent()?.messages.every(({ role, tool_calls: calls }) => role !== 'tool' && calls === undefined)).toBe(true)

    inOrder(say('It was 42.'))
    const input = [...(compacted.output as ResponseInput), { role: 'user' as const, content: 'What was it?' }]
    expect((await ask({ input })).output_text).toBe('It was 42.')
    expect(sent()?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Multiply six by seven.'],
      ['user', 'Thank you.'],
      ['user', expect.stringContaining('The user wanted 6 * 7. Code showed 42.')],
      ['user', 'What was it?'],
    ])

    // A compacted conversation can be compacted: its summary is part of what the model reads, and the new one replaces it.
    inOrder(say('Shorter.'))
    const again = await compact({ input })
    expect(again.output.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'compaction'])
    expect(JSON.stringify(sent()?.messages)).toContain('Code showed 42.')
  })

  it('is no response: it cannot be read or continued', async () => {
    inOrder(say('Short.'))
    const { id } = await compact({ input: 'Hello' })
    await expect(fixture.client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(ask({ previous_response_id: id })).rejects.toMatchObject({ code: 'previous_response_not_found' })
  })

  it('refuses an empty conversation, an unknown one, and the summary of another service', async () => {
    await expect(compact({})).rejects.toMatchObject({ status: 400, param: 'input' })
    await expect(compact({ previous_response_id: 'resp_x' })).rejects.toMatchObject({ code: 'previous_response_not_found' })
    const foreign = { type: 'compaction' as const, encrypted_content: 'opaque' }
    const refusal = { status: 400, code: 'unsupported_value', param: 'input[0].encrypted_content' }
    await expect(compact({ input: [foreign] })).rejects.toMatchObject(refusal)
    await expect(ask({ input: [foreign, { role: 'user', content: 'Hi' }] })).rejects.toMatchObject(refusal)
  })

  it('answers with the error of the model', async () => {
    inOrder({ deltas: [], status: 400, error: { message: 'The model is broken.' } })
    await expect(compact({ input: 'Hello' })).rejects.toThrow(/502 .*The model is broken/)
    inOrder({ deltas: [{ refusal: 'No.' }], finish: 'stop' })
    await expect(compact({ input: 'Hello' })).rejects.toThrow(/wrote no summary/)
  })

  it.each([
    ['fails', { deltas: [], status: 400, error: { message: 'The model is busy.' } }],
    ['refuses', { deltas: [{ refusal: 'No.' }], finish: 'stop' as const }],
  ])('is tried again when the model %s and the client retries', async (_case, failure) => {
    inOrder(failure, say('Short.'))
    const answer = await fixture.client.responses.compact({ model: 'scripted', input: 'Hello' }, { maxRetries: 1 })
    expect(answer.output.at(-1)).toMatchObject({ type: 'compaction' })
  })

  it('is done once for a repeated call', async () => {
    inOrder(say('Short.'))
    const body = JSON.stringify({ model: 'scripted', input: 'Once' })
    const post = async () => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'one' }
      return (await fixture.worked.api.fetch('/v1/responses/compact', { method: 'POST', headers, body })).json()
    }
    expect(await post()).toEqual(await post())
    expect(fixture.worked.upstream.requests).toHaveLength(1)
  })
})

describe('POST /v1/responses/input_tokens', () => {
  it('counts the history of a response and of a conversation', async () => {
    inOrder(say('A fairly long answer with several words in it.'))
    const { inputTokens } = fixture.client.responses
    const { id } = await ask({ input: 'A question' })
    const conversation = await fixture.client.conversations.create({ items: [{ role: 'user', content: 'Four words are here' }] })
    const { input_tokens: alone, object } = await inputTokens.count({ model: 'scripted', input: 'x' })
    expect(object).toBe('response.input_tokens')
    const chained = await inputTokens.count({ model: 'scripted', input: 'x', previous_response_id: id })
    const inConversation = await inputTokens.count({ model: 'scripted', input: 'x', conversation: conversation.id })
    expect(chained.input_tokens).toBeGreaterThan(alone + 10)
    expect(inConversation.input_tokens).toBeGreaterThan(alone + 4)
    await expect(inputTokens.count({ input: 'x', previous_response_id: 'resp_x' })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    })
  })
})
