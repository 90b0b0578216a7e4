import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { DEFAULT_LIMITS } from '../../../services/model/tenants/tenant-limits.ts'
import { ROUTES } from '../../../services/wires/routes.ts'

/** The hostile tenant, and an execution of it that does not end. */
export interface Hostile {
  readonly url: string
  readonly apiKey: string
  readonly containerId: string
  readonly executionId: string
  readonly conversationId: string
  /** Its containers with a network; empty on a server without the gateway. */
  readonly networked: readonly string[]
  /** Time of a measurement. */
  readonly seconds: number
}

/** What the other tenant measures: plain requests, its own code, an answer of a model, the arrival of its webhook, or requests of its code over the network. */
export type Probe = 'requests' | 'code' | 'turn' | 'webhook' | 'network'

/** One way in which a tenant takes a parser, a pool or a form of connection. */
export interface HostileForm {
  readonly name: string
  /** What it sends at once or holds. */
  readonly load: string
  /** What the load takes from others besides time; `requests` without it. */
  readonly probes?: readonly Probe[]
  /** Its server serves no other form: what it leaves behind would be in the figures of the next one. */
  readonly isAlone?: boolean
  /** Starts the load, which ends with its thread. */
  start(hostile: Hostile): void | Promise<void>
}

const MB = 1_000_000
const list = `[${'0,'.repeat(MB)}0]`
/** Documents of about 2 MB that cost more than a string of their size. */
const DOCUMENTS: readonly string[] = [
  list,
  `{"model":"demo","input":${list},"messages":${list},"metadata":${list},"code":${list}}`,
  `{"__proto__":1,"input":${list}}`,
  `${'['.repeat(MB)}${']'.repeat(MB)}`,
  `{${Array.from({ length: 200_000 }, (_, index) => `"${MB + index}":0`).join(',')}}`,
]

const pathOf = (path: string, { executionId, conversationId }: Hostile): string =>
  path
    .replace('{execution_id}', executionId)
    .replace('{conversation_id}', conversationId)
    .replaceAll(/\{\w+\}/g, 'x')
const headersOf = ({ apiKey }: Hostile, path: string): Readonly<Record<string, string>> =>
  path.startsWith('/e2b')
    ? { 'x-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}`, ...(path.startsWith('/open-webui') && { 'x-user-id': 'x' }) }

const isOffered = ({ scope }: (typeof ROUTES)[number]): boolean => scope !== 'admin'
const writing = ROUTES.filter((route) => route.method !== 'get' && isOffered(route))
const reading = ROUTES.filter((route) => route.method === 'get' && isOffered(route))

/** Repeats a call, `atOnce` at a time. Its failures are the hostile tenant's. */
export function repeat(atOnce: number, call: (turn: number) => Promise<unknown>): void {
  let turn = 0
  const loop = async (): Promise<void> => {
    for (;;) await call(turn++).catch(() => undefined)
  }
  for (let index = 0; index < atOnce; index++) void loop()
}

/** Holds connections that send this, and never read unless `isReading`. */
function hold(hostile: Hostile, count: number, textOf: (index: number) => string, isReading = false): void {
  const { hostname, port } = new URL(hostile.url)
  for (let index = 0; index < count; index++) {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => undefined)
    socket.once('connect', () => socket.write(textOf(index)))
    if (isReading) socket.resume()
    else socket.pause()
  }
}

function head(hostile: Hostile, method: string, path: string, more: Readonly<Record<string, string>> = {}): string {
  const headers = { host: 'localhost', ...headersOf(hostile, path), ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method.toUpperCase()} ${pathOf(path, hostile)} HTTP/1.1\r\n${lines.join('')}\r\n`
}

const documents =
  (routes: readonly (typeof ROUTES)[number][]): HostileForm['start'] =>
  (hostile) =>
    repeat(2, async (turn) => {
      const route = routes[turn % routes.length] ?? writing[0]
      const path = route?.path ?? '/'
      const answer = await fetch(`${hostile.url}${pathOf(path, hostile)}`, {
        method: route?.method.toUpperCase() ?? 'POST',
        headers: { ...headersOf(hostile, path), 'content-type': 'application/json' },
        body: DOCUMENTS[Math.floor(turn / routes.length) % DOCUMENTS.length] ?? list,
      })
      await answer.arrayBuffer()
    })

const PAGES = ['/openapi.json', '/', '/docs', '/docs/reference.js', '/docs/guide/', '/llms.txt']
const SENT = `{"a":"${'x'.repeat(65_536)}`
const onEach = (routes: readonly (typeof ROUTES)[number][], index: number) => routes[index % routes.length] ?? { method: 'get', path: '/' }

const CONNECTIONS: readonly HostileForm[] = [
  {
    name: 'unfinished bodies',
    load: '120 connections with 64 KiB of 9 MB each, over all routes',
    start: (hostile) =>
      hold(hostile, 120, (index) => {
        const { method, path } = onEach(writing, index)
        return head(hostile, method, path, { 'content-type': 'application/json', 'content-length': '9000000' }) + SENT
      }),
  },
  {
    name: 'unread answers',
    load: '200 connections with 20 requests each, over all routes',
    start: (hostile) =>
      hold(hostile, 200, (index) => {
        const { path } = onEach(reading, index)
        return head(hostile, 'get', path).repeat(20)
      }),
  },
  {
    name: 'unread downloads',
    load: '100 connections that each request a file of 8 MB and read nothing',
    async start(hostile) {
      const headers = headersOf(hostile, '/open-webui')
      const form = new FormData()
      form.append('file', new Blob([new Uint8Array(8 * MB)]), 'large')
      const sent = await fetch(`${hostile.url}/open-webui/files/upload?directory=/mnt/data`, { method: 'POST', headers, body: form })
      if (!sent.ok) throw new Error(`The file was not stored: ${await sent.text()}`)
      hold(hostile, 100, () => head(hostile, 'get', '/open-webui/files/view?path=/mnt/data/large'))
    },
  },
  {
    name: 'requests that wait for no answer',
    load: '200 connections with 20,000 requests each, half of them without a key',
    start: (hostile) =>
      hold(
        hostile,
        200,
        (index) => (index % 2 === 0 ? head(hostile, 'get', '/v1/limits') : 'GET / HTTP/1.1\r\nhost: a\r\n\r\n').repeat(20_000),
        true,
      ),
  },
  {
    name: 'bodies in chunks of one byte',
    load: '50 connections with 2 MB each',
    start: (hostile) =>
      hold(
        hostile,
        50,
        () => {
          const fields = { 'content-type': 'multipart/form-data; boundary=x', 'transfer-encoding': 'chunked' }
          return head(hostile, 'post', '/v1/files', fields) + '1\r\nx\r\n'.repeat(350_000)
        },
        true,
      ),
  },
  {
    name: 'event streams',
    load: '600 idle streams',
    start: (hostile) => hold(hostile, 600, () => head(hostile, 'get', '/v1/executions/{execution_id}/events')),
  },
  {
    name: 'connections without a key',
    load: '400 connections that send half of a head',
    start: (hostile) => hold(hostile, 400, () => 'POST /session HTTP/1.1\r\nhost: localhost\r\n'),
  },
  {
    name: 'new connections',
    load: '500 callers that open a connection for each request',
    start: (hostile) => {
      const { hostname, port } = new URL(hostile.url)
      const text = head(hostile, 'get', '/v1/limits', { connection: 'close' })
      repeat(500, async () => {
        const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text))
        await once(socket.resume(), 'close')
      })
    },
  },
  {
    name: 'abandoned requests',
    load: 'twice as many requests as the account may send in a second, each on a new connection that is closed when it is sent',
    start: (hostile) => {
      const { hostname, port } = new URL(hostile.url)
      const text = head(hostile, 'get', '/v1/limits')
      const callers = 100
      const everyMs = (callers * 1_000) / (2 * DEFAULT_LIMITS.requestsPerSecond)
      repeat(callers, async () => {
        const turnEnds = delay(everyMs)
        const socket = connect({ host: hostname, port: Number(port) })
        await once(socket, 'connect')
        socket.end(text)
        await once(socket, 'finish')
        socket.destroy()
        await turnEnds
      })
    },
  },
  {
    name: 'unknown paths and wrong keys',
    load: '250 callers without a valid key, in turn for a path that does not exist and for a route',
    start: ({ url }) =>
      repeat(250, async (turn) => {
        const answer = await fetch(`${url}${turn % 2 === 0 ? '/nothing' : '/v1/limits'}`, {
          headers: { authorization: `Bearer ck_${turn}` },
        })
        await answer.arrayBuffer()
      }),
  },
  {
    name: 'documents without a key',
    load: '250 callers that request the pages, the reference and the description of the API, compressed, each of which was requested before',
    async start({ url }) {
      const request = async (turn: number): Promise<void> => {
        const answer = await fetch(`${url}${PAGES[turn % PAGES.length]}`, { headers: { 'accept-encoding': 'gzip' } })
        await answer.arrayBuffer()
      }
      await Promise.all(PAGES.map((_, turn) => request(turn)))
      repeat(250, request)
    },
  },
  {
    name: 'WebSockets',
    load: '300 connections that send a message of 1 MB at the same moment and read nothing',
    start: ({ url, apiKey }) => {
      const message = JSON.stringify({ type: 'response.steer', input: 'x'.repeat(MB), previous_response_id: 'resp_x' })
      for (let index = 0; index < 300; index++) {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${apiKey}` } })
        socket.on('error', () => undefined)
        socket.once('open', () => (socket.pause(), socket.send(message)))
      }
    },
  },
]

const VISITORS: HostileForm = {
  name: 'visitors of a port',
  load: '500 connections with 20 requests each to one published port',
  async start(hostile) {
    const answer = await fetch(`${hostile.url}/v1/containers/${hostile.containerId}/ports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hostile.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ port: 8501 }),
    })
    const { origin, token } = (await answer.json()) as { readonly origin: string; readonly token: string }
    const request = `GET / HTTP/1.1\r\nhost: ${new URL(origin).host}\r\ncellblock-port-token: ${token}\r\n\r\n`
    hold(hostile, 500, () => request.repeat(20))
  },
}

export const post = ({ url, apiKey }: Hostile, path: string, body: unknown): Promise<ArrayBuffer> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((answer) => answer.arrayBuffer())

const POOLS: readonly HostileForm[] = [
  {
    name: 'turns',
    load: '8 callers that start background responses without a pause',
    probes: ['turn'],
    start: (hostile) => repeat(8, () => post(hostile, '/v1/responses', { model: 'demo', input: 'x', background: true })),
  },
  {
    name: 'executions',
    load: '60 commands that do not end, and 8 callers that queue code without a pause',
    probes: ['code'],
    async start(hostile) {
      const path = `/v1/containers/${hostile.containerId}`
      for (let index = 0; index < 60; index++)
        await post(hostile, `${path}/commands?wait=0`, { argv: ['sleep', '3000'], background: index % 2 === 0, timeout_seconds: 3_600 })
      repeat(8, () => post(hostile, `${path}/executions?wait=0`, { code: '1' }))
    },
  },
  {
    name: 'stored bytes',
    load: '4 callers that add items of 60 KB without a pause',
    start: (hostile) => {
      const items = [{ type: 'message', role: 'user', content: 'x'.repeat(60_000) }]
      return repeat(4, () => post(hostile, `/v1/conversations/${hostile.conversationId}/items`, { items }))
    },
  },
]

/** Every form but those of the gateway and of webhooks; `isWhole`: each route of a JSON body is a separate form, otherwise they are taken in turn. */
export const hostileForms = (isWhole: boolean): readonly HostileForm[] => [
  ...(isWhole
    ? writing.map((route) => ({ name: `JSON of ${route.operationId}`, load: '2 bodies of 2 MB', start: documents([route]) }))
    : [{ name: 'JSON of every route', load: '2 bodies of 2 MB at once', start: documents(writing) }]),
  ...CONNECTIONS,
  VISITORS,
  ...POOLS,
]
