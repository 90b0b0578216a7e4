import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import { python, server } from './server.mjs'

// Clients that know only Chat Completions send no tools: the interpreter is offered then.
const openai = createOpenAI({ baseURL: server.baseURL, apiKey: server.apiKey })
const request = { model: openai.chat(server.model), prompt: python('print(6 * 7)') }

it('the AI SDK generates and streams by chat completions', async () => {
  assert.match((await generateText(request)).text, /42/)
  assert.match(await streamText(request).text, /42/)
})

it('LangChain answers and streams by chat completions', async () => {
  const model = new ChatOpenAI({
    model: server.model,
    apiKey: server.apiKey,
    useResponsesApi: false,
    configuration: { baseURL: server.baseURL },
  })
  assert.match((await model.invoke(python('print(6 * 7)'))).text, /42/)
  let text = ''
  for await (const chunk of await model.stream(python('print(6 * 7)'))) text += chunk.text
  assert.match(text, /42/)
})
