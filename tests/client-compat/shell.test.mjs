import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, OpenAIProvider, Runner, shellTool } from '@openai/agents'
import { server } from './server.mjs'

/** This model calls the shell once, with a command that prints 42 and one that fails, and then repeats what it read. */
const model = process.env.CELLBLOCK_SHELL_MODEL
const runner = new Runner({
  modelProvider: new OpenAIProvider({ apiKey: server.apiKey, baseURL: server.baseURL, useResponses: true }),
  tracingDisabled: true,
})
const agent = new Agent({ name: 'client', model, tools: [shellTool({ environment: { type: 'container_auto' } })] })

function checkItems({ newItems, finalOutput }) {
  const items = newItems.map(({ rawItem }) => rawItem)
  const call = items.find(({ type }) => type === 'shell_call')
  assert.deepEqual(call.action.commands, ['echo $((6 * 7))', 'exit 3'])
  const { output } = items.find(({ type }) => type === 'shell_call_output')
  assert.deepEqual(
    output.map(({ stdout, outcome }) => [stdout, outcome.type, outcome.exitCode ?? outcome.exit_code]),
    [
      ['42\n', 'exit', 0],
      ['', 'exit', 3],
    ],
  )
  assert.match(finalOutput, /42[\s\S]*exit code 3/)
}

it('@openai/agents runs its hosted shell', async () => {
  checkItems(await runner.run(agent, 'Compute.'))
})

it('@openai/agents streams it', async () => {
  const result = await runner.run(agent, 'Compute.', { stream: true })
  const types = new Set()
  for await (const event of result) if (event.type === 'raw_model_stream_event') types.add(event.data.event?.type ?? event.data.type)
  await result.completed
  checkItems(result)
  assert.ok(
    [...types].some((type) => type?.startsWith('response.shell_call')),
    [...types].join(),
  )
})
