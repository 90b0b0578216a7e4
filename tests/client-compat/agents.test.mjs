import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, codeInterpreterTool, OpenAIProvider, Runner } from '@openai/agents'
import { container, python, server } from './server.mjs'

const runner = new Runner({
  modelProvider: new OpenAIProvider({ apiKey: server.apiKey, baseURL: server.baseURL, useResponses: true }),
  tracingDisabled: true,
})
const agent = new Agent({ name: 'client', model: server.model, tools: [codeInterpreterTool(container ? { container } : {})] })
const callsOf = (result) => result.newItems.filter(({ rawItem }) => /code_interpreter/.test(JSON.stringify(rawItem.name ?? rawItem.type)))

it('@openai/agents runs its hosted code interpreter', async () => {
  const result = await runner.run(agent, python('print(6 * 7)'))
  assert.match(result.finalOutput, /42/)
  assert.equal(callsOf(result).length, 1)
})

it('@openai/agents streams it', async () => {
  const result = await runner.run(agent, python('print(6 * 7)'), { stream: true })
  let text = ''
  for await (const piece of result.toTextStream()) text += piece
  await result.completed
  assert.equal(text, result.finalOutput)
  assert.equal(callsOf(result).length, 1)
})
