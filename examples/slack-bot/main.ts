// A Slack app: a mention is answered in its thread, with code if the question needs it. It receives Slack's Events API over HTTP.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const secret = process.env['SLACK_SIGNING_SECRET']
const botToken = process.env['SLACK_BOT_TOKEN']
const slackUrl = process.env['SLACK_API_URL'] ?? 'https://slack.com/api'
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
/** Slack asks to refuse older requests, seconds: https://docs.slack.dev/authentication/verifying-requests-from-slack */
const MAX_AGE_SECONDS = 300
const MAX_THREADS = 1_000
if (apiKey === undefined || secret === undefined || botToken === undefined) {
  console.error(
    'Set CELLBLOCK_API_KEY (printed by `npm start`), SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN (from the settings of your Slack app).',
  )
  process.exit(1)
}

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
/** The last response of each thread, so that a thread is one conversation. */
const threads = new Map<string, string>()

interface Mention {
  readonly type: string
  readonly text: string
  readonly channel: string
  readonly ts: string
  readonly thread_ts?: string
}

function isFromSlack(body: string, time: string, signature: string): boolean {
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > MAX_AGE_SECONDS) return false
  const expected = Buffer.from(
    `v0=${createHmac('sha256', secret ?? '')
      .update(`v0:${time}:${body}`)
      .digest('hex')}`,
  )
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function reply({ text: question, channel, ts, thread_ts: thread = ts }: Mention): Promise<void> {
  const response = await client.responses.create({
    model,
    input: question.replaceAll(/<@\w+>/g, '').trim(),
    previous_response_id: threads.get(thread) ?? null,
    tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  })
  threads.set(thread, response.id)
  if (threads.size > MAX_THREADS) threads.delete(threads.keys().next().value ?? '')
  await fetch(`${slackUrl}/chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ channel, thread_ts: thread, text: response.output_text }),
  })
}

const server = createServer((request, response) => {
  void (async () => {
    const body = await text(request)
    const { 'x-slack-request-timestamp': time = '', 'x-slack-signature': signature = '' } = request.headers
    if (!isFromSlack(body, String(time), String(signature))) return response.writeHead(401).end()
    const event = JSON.parse(body) as { readonly type: string; readonly challenge?: string; readonly event?: Mention }
    if (event.type === 'url_verification') return response.end(event.challenge)
    // Slack sends an event again if it is not answered within three seconds, so the turn runs after the answer.
    response.end()
    const isRepeated = request.headers['x-slack-retry-num'] !== undefined
    if (event.event?.type === 'app_mention' && !isRepeated) await reply(event.event)
  })().catch((error: unknown) => console.error(error instanceof Error ? error.message : error))
})
server.listen(Number(process.env['PORT'] ?? 3001), '127.0.0.1', () => {
  console.log(`Listening for Slack at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
