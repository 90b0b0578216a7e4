// A web application that embeds a chat with code. The key stays on this server: the browser knows only this application.
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
const MAX_MESSAGE_CHARACTERS = 20_000
if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example -- web-chat')
  process.exit(1)
}

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
const page = await readFile(join(import.meta.dirname, 'index.html'))

/** Streams one turn as lines of JSON: `{text}` as the answer comes, `{code}` for code that ran, `{id}` at the end. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { message, previous } = JSON.parse(await text(request)) as { readonly message: string; readonly previous: string | null }
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-content-type-options': 'nosniff' })
  const send = (line: object): boolean => response.write(`${JSON.stringify(line)}\n`)
  try {
    const stream = await client.responses.create({
      model,
      input: message.slice(0, MAX_MESSAGE_CHARACTERS),
      previous_response_id: previous,
      stream: true,
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    })
    // A reader who goes away needs no answer.
    response.once('close', () => stream.controller.abort())
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') send({ text: event.delta })
      if (event.type === 'response.code_interpreter_call_code.done') send({ code: event.code })
      if (event.type === 'response.completed') send({ id: event.response.id })
    }
  } catch (error) {
    send({ error: error instanceof OpenAI.APIError ? error.message : 'The answer broke off. Ask again.' })
  }
  response.end()
}

const server = createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/ask') return void answer(request, response)
  if (request.method !== 'GET' || request.url !== '/') return void response.writeHead(404).end('There is nothing at this address.')
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'",
  })
  response.end(page)
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`The chat is at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
