import { getHeapStatistics } from 'node:v8'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readMessage } from '../../../services/wires/openai/responses/socket-messages.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const MB = 1_000_000
const MAX_RATIO = 3
/** The processor time of a request with a string of 2 MB counts as at least this, milliseconds: below it, noise decides. */
const FLOOR_MS = 50
const MAX_HEAP_BYTES = 64 * 1024 * 1024

const list = (entry: string, bytes: number): string => `[${`${entry},`.repeat(bytes / (entry.length + 1))}${entry}]`
const keys = (bytes: number): string => `{${Array.from({ length: bytes / 11 }, (_, index) => `"${index + MB}":0`).join(',')}}`

const post = (path: string, body: string): Promise<Response> =>
  fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(path.startsWith('/e2b') ? { 'x-api-key': api.owner.key } : { authorization: `Bearer ${api.owner.key}` }),
    },
    body,
  })

/** The server and the client run in this thread. */
async function costOf(path: string, body: string) {
  const heapBefore = getHeapStatistics().used_heap_size
  const before = process.threadCpuUsage()
  const answer = await post(path, body)
  const text = await answer.text()
  const { user, system } = process.threadCpuUsage(before)
  return { status: answer.status, text, ms: (user + system) / 1_000, heapBytes: getHeapStatistics().used_heap_size - heapBefore }
}

const message = `{"role":"user","content":${list('0', 1_998)}}`
const mcp = (method: string, params: string): string => `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
const CASES: readonly (readonly [what: string, path: string, body: string, advice: string])[] = [
  [
    '1,000 content parts in 4,000 messages',
    '/v1/responses',
    `{"model":"demo","input":${list(message, 8 * MB)}}`,
    'more than 300000 values',
  ],
  ['1,000 content parts in 290 messages', '/v1/responses', `{"model":"demo","input":${list(message, 590_000)}}`, "'input[0].content[0]'"],
  ['wrong messages', '/v1/chat/completions', `{"model":"demo","messages":${list('"xxxx"', 2 * MB)}}`, 'give at most 20000 entries'],
  ['logit_bias', '/v1/chat/completions', `{"model":"demo","messages":[],"logit_bias":${keys(2 * MB)}}`, 'more than 10000 keys'],
  ['reasoning', '/v1/responses', `{"model":"demo","input":"x","reasoning":{"a":${list('0', 500_000)}}}`, "'reasoning.a' is not valid"],
  ['metadata', '/e2b/v2/sandboxes', `{"metadata":${keys(2 * MB)}}`, 'more than 10000'],
  ['parameters of a notification', '/mcp', mcp('notifications/x', `{"a":${list('0', 2 * MB)}}`), 'more than 10000 values'],
  ['_meta', '/mcp', mcp('notifications/x', `{"_meta":{"a":${list('{}', 2 * MB)}}}`), 'more than 10000 values'],
  [
    'tool_results',
    '/librechat/v1/exec/programmatic',
    `{"continuation_token":"x","tool_results":${list('0', 2 * MB)}}`,
    'more than 300000 values',
  ],
  [
    'the key __proto__',
    '/v1/responses',
    `{"model":"demo","__proto__":1,"input":"x","zz":${list('0', 10 * MB)}}`,
    'the key \\"__proto__\\"',
  ],
  [
    'the key __proto__ in escapes, at the end',
    '/v1/responses',
    `{"model":"demo","input":"x","zz":${list('0', 550_000)},"\\u005f_proto__":1}`,
    'the key \\"__proto__\\"',
  ],
  [
    'the word __proto__ in text',
    '/v1/responses',
    `{"model":"demo","input":7,"instructions":"a.__proto__ = 1","zz":${list('0', 550_000)}}`,
    "'input' is not valid",
  ],
]

it.each(CASES)('refuses %s of %s for at most three times the cost of text', async (_, path, body, advice) => {
  const floorMs = FLOOR_MS * Math.max(1, body.length / (2 * MB))
  const text = await costOf(path, `{"model":"${'x'.repeat(Math.max(2 * MB, body.length))}"}`)
  const maxMs = MAX_RATIO * Math.max(floorMs, text.ms)
  let cost = await costOf(path, body)
  // The collector of memory may run in one of them.
  if (cost.ms > maxMs || cost.heapBytes > MAX_HEAP_BYTES) cost = await costOf(path, body)
  expect(cost.status).toBe(400)
  expect(cost.text).toContain(advice)
  expect(cost.ms).toBeLessThan(maxMs)
  expect(cost.heapBytes).toBeLessThan(MAX_HEAP_BYTES)
})

it('counts the values of a WebSocket message', () => {
  const body = `{"type":"response.create","model":"demo","input":${list('0', 2 * MB)}}`
  expect(() => readMessage(Buffer.from(body))).toThrow('more than 300000 values')
})

it('answers a message of MCP that has too many values in the form of JSON-RPC', async () => {
  const answer = await post('/mcp', mcp('tools/list', `{"a":${list('0', 100_000)}}`))
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { jsonrpc: '2.0', id: null, error: { code: -32_700, message: expect.stringContaining('more than 10000 values') } },
  ])
})

it('accepts 20,000 messages', async () => {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }
  const answer = await api.post('/v1/responses', { model: 'gpt-99', input: Array.from({ length: 20_000 }, () => item) })
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }])
})
