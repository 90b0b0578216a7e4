import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { WebSocketServer, type WebSocket } from 'ws'

/** Numbers of the gateway's protocol: https://docs.discord.com/developers/events/gateway-events */
const DISPATCH = 0
const HEARTBEAT = 1
const IDENTIFY = 2
const HELLO = 10
const HEARTBEAT_ACK = 11
const APPLICATION = '100000000000000001'
const CHANNEL = '100000000000000002'
const USER = { id: '100000000000000003', username: 'ann', discriminator: '0', avatar: null, global_name: null }
const BOT = { ...USER, id: APPLICATION, username: 'cellblock', bot: true }

export interface DiscordCall {
  readonly route: string
  readonly body: string
}

/** A stand-in for Discord: its gateway, and the part of its HTTP API that a bot with slash commands calls. */
export class DiscordStub {
  readonly calls: DiscordCall[] = []
  /** Tokens with which bots identified themselves. */
  readonly tokens: string[] = []
  readonly #http: Server
  readonly #gateway: WebSocketServer
  #socket: WebSocket | null = null
  #sequence = 0

  private constructor() {
    this.#http = createServer((request, response) => void this.#answer(request, response))
    this.#gateway = new WebSocketServer({ server: this.#http })
    this.#gateway.on('connection', (socket) => this.#greet(socket))
  }

  static async start(): Promise<DiscordStub> {
    const stub = new DiscordStub()
    await new Promise<void>((resolve) => stub.#http.listen(0, '127.0.0.1', resolve))
    return stub
  }

  /** The base of its HTTP API. */
  get url(): string {
    return `http://${this.#host}/api`
  }

  get #host(): string {
    return `127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** A person uses a slash command with one option. */
  useCommand(id: string, name: string, option: { readonly name: string; readonly value: string }): void {
    this.#dispatch('INTERACTION_CREATE', {
      id,
      application_id: APPLICATION,
      type: 2,
      token: `token-${id}`,
      version: 1,
      channel_id: CHANNEL,
      channel: { id: CHANNEL, type: 1 },
      user: USER,
      locale: 'en-GB',
      entitlements: [],
      authorizing_integration_owners: {},
      context: 1,
      attachment_size_limit: 10_485_760,
      data: { id: '100000000000000009', name, type: 1, options: [{ type: 3, ...option }] },
    })
  }

  stop(): void {
    for (const client of this.#gateway.clients) client.terminate()
    this.#gateway.close()
    this.#http.close()
    this.#http.closeAllConnections()
  }

  #greet(socket: WebSocket): void {
    this.#socket = socket
    socket.send(JSON.stringify({ op: HELLO, d: { heartbeat_interval: 41_250 } }))
    socket.on('message', (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { readonly op: number; readonly d: { readonly token?: string } }
      if (op === HEARTBEAT) socket.send(JSON.stringify({ op: HEARTBEAT_ACK }))
      if (op !== IDENTIFY) return
      this.tokens.push(d.token ?? '')
      const application = { id: APPLICATION, flags: 0 }
      this.#dispatch('READY', { v: 10, user: BOT, guilds: [], session_id: 's1', resume_gateway_url: `ws://${this.#host}`, application })
    })
  }

  #dispatch(name: string, data: unknown): void {
    this.#socket?.send(JSON.stringify({ op: DISPATCH, t: name, s: ++this.#sequence, d: data }))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString('latin1')
    const route = `${request.method} ${request.url?.split('?')[0]?.replace('/api', '')}`
    this.calls.push({ route, body })
    const limits = { total: 1_000, remaining: 999, reset_after: 86_400_000, max_concurrency: 1 }
    const answer = route.endsWith('/gateway/bot')
      ? { url: `ws://${this.#host}`, shards: 1, session_start_limit: limits }
      : route.startsWith('PUT ')
        ? []
        : { id: '100000000000000010', type: 0, channel_id: CHANNEL, author: BOT, content: '', timestamp: new Date(0).toISOString() }
    if (route.endsWith('/callback')) response.writeHead(204).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
}
