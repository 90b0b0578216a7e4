import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import { container, python, server } from './server.mjs'

const openai = createOpenAI({ baseURL: server.baseURL, apiKey: server.apiKey })
const request = {
  model: openai.responses(server.model),
  prompt: python('print(6 * 7)'),
  tools: { code_interpreter: openai.tools.codeInterpreter(container ? { container } : {}) },
}

it('the AI SDK generates with its code interpreter tool', async () => {
  const result = await generateText(request)
  assert.match(result.text, /42/)
  assert.match(result.toolCalls[0].input.code, /6 \* 7/)
  assert.match(JSON.stringify(result.toolResults[0].output), /42/)
})

it('the AI SDK streams with it', async () => {
  const result = streamText(request)
  const parts = []
  for await (const part of result.fullStream) parts.push(part)
  assert.deepEqual(
    parts.filter(({ type }) => type === 'error'),
    [],
  )
  assert.ok(parts.some(({ type }) => type === 'tool-call'))
  assert.ok(parts.some(({ type }) => type === 'tool-result'))
  assert.match(await result.text, /42/)
})
