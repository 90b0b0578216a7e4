import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ChatOpenAI } from '@langchain/openai'
import { container, python, server } from './server.mjs'

const model = new ChatOpenAI({
  model: server.model,
  apiKey: server.apiKey,
  useResponsesApi: true,
  configuration: { baseURL: server.baseURL },
}).bindTools([{ type: 'code_interpreter', container: container ?? { type: 'auto' } }])

it('LangChain runs the built-in code interpreter', async () => {
  const message = await model.invoke(python('print(6 * 7)'))
  assert.match(message.text, /42/)
  const [call] = message.additional_kwargs.tool_outputs
  assert.equal(call.type, 'code_interpreter_call')
  assert.match(call.code, /6 \* 7/)
})

it('LangChain streams it', async () => {
  let text = ''
  for await (const chunk of await model.stream(python('print(6 * 7)'))) text += chunk.text
  assert.match(text, /42/)
})
