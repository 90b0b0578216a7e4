// An agent whose only tools are those of Cellblock's MCP server. Any model behind Chat Completions decides which to call.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const model = process.env['OPENAI_MODEL'] ?? 'gpt-5-mini'
const question = process.argv[2] ?? 'What are the prime factors of 1234567890? Check the answer with code.'
const MAX_ROUNDS = 10
if (apiKey === undefined || process.env['OPENAI_API_KEY'] === undefined) {
  console.error('Set CELLBLOCK_API_KEY (printed by `npm start`) and OPENAI_API_KEY; OPENAI_BASE_URL leads to another server of models.')
  process.exit(1)
}

const mcp = new Client({ name: 'mcp-agent', version: '1' })
await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: { token: async () => apiKey } }))
const tools = (await mcp.listTools()).tools.map(({ name, description = '', inputSchema }): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
}))

async function callTool(call: OpenAI.ChatCompletionMessageFunctionToolCall): Promise<string> {
  const args = JSON.parse(call.function.arguments) as Record<string, unknown>
  console.log(`tool       ${call.function.name} ${JSON.stringify(args)}`)
  const result = await mcp.callTool({ name: call.function.name, arguments: args })
  // A failing program is a result: the model reads its traceback.
  return result.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

const models = new OpenAI()
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
for (let round = 0; round < MAX_ROUNDS; round++) {
  const completion = await models.chat.completions.create({ model, messages, tools })
  const message = completion.choices[0]?.message
  if (message === undefined) throw new Error('The model gave no answer. Try again.')
  messages.push(message)
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  if (calls.length === 0) {
    console.log(`answer     ${message.content ?? ''}`)
    break
  }
  for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: await callTool(call) })
}
await mcp.close()
