// A chat in the terminal: the answer streams, code and its output are shown, and the container keeps variables and files between messages.
import OpenAI from 'openai'
import { createInterface } from 'node:readline/promises'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example -- console-chat')
  process.exit(1)
}

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
const container = await client.containers.create({ name: 'console-chat' })
let previous: string | null = null

async function answer(input: string): Promise<void> {
  const stream = await client.responses.create({
    model,
    input,
    stream: true,
    previous_response_id: previous,
    tools: [{ type: 'code_interpreter', container: container.id }],
    include: ['code_interpreter_call.outputs'],
  })
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
    if (event.type === 'response.code_interpreter_call_code.done') console.log(`\n┌ code\n${event.code.replaceAll(/^/gm, '│ ')}`)
    if (event.type === 'response.output_item.done' && event.item.type === 'code_interpreter_call')
      for (const output of event.item.outputs ?? []) console.log(output.type === 'logs' ? output.logs.replaceAll(/^/gm, '└ ') : '└ [image]')
    if (event.type === 'response.completed') previous = event.response.id
    if (event.type === 'response.failed') console.error(`The turn failed: ${event.response.error?.message ?? 'no reason was given'}`)
  }
  console.log()
}

const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: process.stdin.isTTY })
process.stdout.write('you> ')
for await (const line of lines) {
  if (line.trim() !== '') await answer(line.replaceAll('\\n', '\n'))
  process.stdout.write('you> ')
}
await client.containers.delete(container.id)
