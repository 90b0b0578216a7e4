import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { call, say } from '../../support/scripted-upstream.ts'
import { wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body
const tools = [{ type: 'apply_patch' as const }]
const diff = '@@ def f():\n-  return 1\n+  return 2\n'
const patch = (operation: Readonly<Record<string, unknown>>) => ({ name: 'apply_patch', arguments: JSON.stringify(operation) })
const update = patch({ type: 'update_file', path: 'src/a.py', diff })
const weather = { type: 'function' as const, name: 'get_weather', parameters: { type: 'object', properties: {} }, strict: false }

describe('apply_patch', () => {
  it("ends the response with the model's operations, and continues with their outputs", async () => {
    inOrder(call(update, patch({ type: 'delete_file', path: 'b.py', diff: '' })))
    const first = await ask({ tools })
    expect(first.status).toBe('completed')
    expect(first.output).toEqual([
      {
        id: expect.stringMatching(/^apc_/),
        type: 'apply_patch_call',
        call_id: 'call_apply_patch_0',
        status: 'completed',
        operation: { type: 'update_file', path: 'src/a.py', diff },
      },
      expect.objectContaining({ operation: { type: 'delete_file', path: 'b.py' } }),
    ])
    expect(sent(0)?.tools?.map((tool) => tool.function.name)).toEqual(['apply_patch'])

    inOrder(say('Done.'))
    const outputs = [
      { type: 'apply_patch_call_output' as const, call_id: 'call_apply_patch_0', status: 'completed' as const, output: 'Updated src/a.py' },
      { type: 'apply_patch_call_output' as const, call_id: 'call_apply_patch_1', status: 'failed' as const, output: 'No such file' },
    ]
    expect((await ask({ tools, previous_response_id: first.id, input: outputs })).output_text).toBe('Done.')
    const results = sent()
      ?.messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => content)
    expect(results).toEqual(['The change was applied.\nUpdated src/a.py', 'The change failed.\nNo such file'])

    // The same with the whole history in the input.
    inOrder(say('Done.'))
    const items = first.output.filter((item) => item.type === 'apply_patch_call')
    await ask({ tools, input: [{ role: 'user', content: 'Go' }, ...items, ...outputs] })
    expect(sent()?.messages.find(({ role }) => role === 'assistant')?.tool_calls).toMatchObject([
      { id: 'call_apply_patch_0', function: { name: 'apply_patch', arguments: expect.stringContaining('src/a.py') } },
      { id: 'call_apply_patch_1' },
    ])
  })

  it('shows an operation only when it is whole, in the order of the calls', async () => {
    inOrder(call(update, { name: 'get_weather', arguments: '{}' }))
    const events: ResponseStreamEvent[] = []
    for await (const event of fixture.client.responses.stream({ model: 'scripted', input: 'Go', tools: [...tools, weather] }))
      events.push(event)
    const added = events.filter((event) => event.type === 'response.output_item.added')
    expect(added.map(({ output_index: index, item }) => [index, item.type])).toEqual([
      [0, 'apply_patch_call'],
      [1, 'function_call'],
    ])
    expect(added[0]?.item).toMatchObject({ status: 'in_progress', operation: { type: 'update_file', path: 'src/a.py', diff } })
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  })

  it.each([
    ['an unknown operation', '{"type": "move_file", "path": "a"}', /"type" of create_file/],
    ['no path', '{"type": "delete_file"}', /no "path"/],
    ['no diff', '{"type": "create_file", "path": "a"}', /no string "diff"/],
    ['no JSON', '{"type": "create_', /no JSON object/],
  ])('lets the model correct a call with %s', async (_, args, problem) => {
    inOrder(call({ name: 'apply_patch', arguments: args }), call(update))
    const { output } = await ask({ tools })
    expect(output).toMatchObject([{ type: 'apply_patch_call', operation: { path: 'src/a.py' } }])
    expect(sent(1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringMatching(problem) })
  })

  it('can be required, by its type', async () => {
    inOrder(call(update))
    await ask({ tools, tool_choice: { type: 'apply_patch' } })
    expect(sent()?.tool_choice).toEqual({ type: 'function', function: { name: 'apply_patch' } })
    await expect(ask({ tools: [weather], tool_choice: { type: 'apply_patch' } })).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice',
    })
  })

  it('refuses the output of a call that its history does not have', async () => {
    inOrder(say('Hello.'))
    const { id } = await ask()
    const output = { type: 'apply_patch_call_output' as const, call_id: 'call_none', status: 'completed' as const }
    const refusal = { status: 400, param: 'input[0].call_id', message: expect.stringContaining('call_none') }
    await expect(ask({ input: [output] })).rejects.toMatchObject(refusal)
    await expect(ask({ input: [output], previous_response_id: id })).rejects.toMatchObject(refusal)
    const conversation = await fixture.client.conversations.create({ items: [{ role: 'user', content: 'Hi' }] })
    await expect(ask({ input: [output], conversation: conversation.id })).rejects.toMatchObject(refusal)
  })
})
