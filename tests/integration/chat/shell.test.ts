import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { beforeAll, describe, expect, it } from 'vitest'
import { call, say } from '../../support/scripted-upstream.ts'
import { wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder, ask } = fixture
const sent = (at = -1) => fixture.worked.upstream.requests.at(at)?.body
const shell = (...commands: readonly string[]) => ({ name: 'shell', arguments: JSON.stringify({ commands }) })
const hosted = [{ type: 'shell' as const, environment: { type: 'container_auto' as const } }]

/** Each command prints its own line; "fail" exits with 3, "slow" times out, "write" makes a file. */
beforeAll(() =>
  fixture.worked.runs((command) => ({
    result: { stdout: `ran ${command}\n`, exit: { code: command === 'fail' ? 3 : 0, signal: null } },
    files: command === 'write' ? { 'made.txt': 'x' } : {},
    ...(command === 'slow' ? { patch: { status: 'timed_out', reason: 'deadline' } } : {}),
  })),
)

describe('the hosted shell', () => {
  it('runs commands in order in the container, and the model reads their results', async () => {
    inOrder(call(shell('one', 'fail', 'slow')), say('Done.'))
    const response = await ask({ tools: hosted })
    expect(response.status).toBe('completed')
    const [made, output, message] = response.output
    expect(made).toMatchObject({
      type: 'shell_call',
      status: 'completed',
      action: { commands: ['one', 'fail', 'slow'], timeout_ms: null, max_output_length: null },
      environment: { type: 'container_reference', container_id: expect.stringMatching(/^cntr_/) },
    })
    expect(output).toMatchObject({
      type: 'shell_call_output',
      status: 'completed',
      call_id: made?.type === 'shell_call' ? made.call_id : '',
      output: [
        { stdout: 'ran one\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: 'ran fail\n', outcome: { type: 'exit', exit_code: 3 } },
        { stdout: 'ran slow\n', outcome: { type: 'timeout' } },
      ],
    })
    expect(message?.type).toBe('message')
    const result = sent()?.messages.find(({ role }) => role === 'tool')
    expect(result?.content).toMatch(/command 1: exit code 0\nstdout:\nran one\n\ncommand 2: exit code 3[^]*command 3: stopped/)
    expect(sent(0)?.tools?.map((tool) => tool.function.name)).toEqual(['shell'])
  })

  it('streams the commands and their output', async () => {
    inOrder(call(shell('one', 'two')), say('Done.'))
    const events: ResponseStreamEvent[] = []
    for await (const event of fixture.client.responses.stream({ model: 'scripted', input: 'Go', tools: hosted })) events.push(event)
    const types = events.map(({ type }) => type)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    const order = [
      'response.shell_call_command.added',
      'response.shell_call_command.done',
      'response.shell_call_output_content.done',
      'response.output_text.delta',
      'response.completed',
    ]
    expect(order.map((type) => types.indexOf(type as (typeof types)[number]))).toEqual(
      order.map((type) => types.indexOf(type as (typeof types)[number])).toSorted((a, b) => a - b),
    )
    expect(types).toContain('response.shell_call_command.delta')
    const done = events.filter((event) => event.type === 'response.output_item.done').map(({ item }) => item.type)
    expect(done).toEqual(['shell_call', 'shell_call_output', 'message'])
    expect(events.find((event) => event.type === 'response.shell_call_output_content.done')).toMatchObject({
      command_index: 0,
      output: [{ stdout: 'ran one\n', outcome: { type: 'exit', exit_code: 0 } }],
    })
  })

  it('works in a named container, links its files, and continues there in the next turn', async () => {
    const { id } = await fixture.client.containers.create({ name: 'shell' })
    const tools = [{ type: 'shell' as const, environment: { type: 'container_reference' as const, container_id: id } }]
    inOrder(call(shell('write')), say('See [it](sandbox:/mnt/data/made.txt).'))
    const first = await ask({ tools })
    expect(first.output[0]).toMatchObject({ environment: { container_id: id } })
    expect(first.output_text).toMatch(/See \[it\]\(http.*\/d\//)

    inOrder(call(shell('one')), say('Again.'))
    const second = await ask({ tools: hosted, previous_response_id: first.id })
    expect(second.output[0]).toMatchObject({ environment: { container_id: id } })
    expect(sent()?.messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  it('tells the model about arguments without commands', async () => {
    inOrder(call({ name: 'shell', arguments: '{"commands": 5}' }), say('Sorry.'))
    const { output } = await ask({ tools: hosted })
    expect(output[1]).toMatchObject({ type: 'shell_call_output', status: 'completed', output: [] })
    expect(sent()?.messages.at(-1)?.content).toMatch(/no list "commands"/)
  })
})

describe('the local shell', () => {
  const tools = [
    {
      type: 'shell' as const,
      environment: { type: 'local' as const, skills: [{ name: 'lint', description: 'Checks code', path: '/skills/lint' }] },
    },
  ]

  it('ends the response with its call, and continues with the outputs of the caller', async () => {
    inOrder(call(shell('make')), say('Built.'))
    const first = await ask({ tools })
    expect(first).toMatchObject({
      status: 'completed',
      output: [{ type: 'shell_call', status: 'completed', environment: { type: 'local' } }],
    })
    expect(JSON.stringify(sent()?.tools)).toMatch(/\/skills\/lint/)
    const [made] = first.output
    if (made?.type !== 'shell_call') throw new Error('no call')
    const output = {
      type: 'shell_call_output' as const,
      call_id: made.call_id,
      output: [{ stdout: 'built\n', stderr: '', outcome: { type: 'exit' as const, exit_code: 0 } }],
    }
    expect((await ask({ tools, previous_response_id: first.id, input: [output] })).output_text).toBe('Built.')
    expect(sent()?.messages.at(-1)).toMatchObject({
      role: 'tool',
      tool_call_id: made.call_id,
      content: expect.stringMatching(/stdout:\nbuilt/),
    })
  })

  it('runs nothing here without an environment', async () => {
    inOrder(call(shell('make')))
    expect((await ask({ tools: [{ type: 'shell' }] })).output).toMatchObject([{ type: 'shell_call', environment: { type: 'local' } }])
  })
})

it.each([
  [{ type: 'container_auto', network_policy: { type: 'allowlist', allowed_domains: ['a.example'] } }, 'unsupported_value'],
  [{ type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 'x' }] }, 'skill_not_found'],
  [{ type: 'container_reference', container_id: 'cntr_missing' }, 'container_not_found'],
  [{ type: 'elsewhere' }, 'invalid_request'],
])('refuses the environment %j', async (environment, code) => {
  const body = { model: 'scripted', input: 'Go', tools: [{ type: 'shell', environment }] }
  expect(await (await fixture.worked.api.post('/v1/responses', body)).json()).toMatchObject({ error: { code } })
})
