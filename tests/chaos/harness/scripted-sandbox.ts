import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { stringToSign } from '../../../services/adapters/supervisor-client/signature.ts'
import type { History } from '../history.ts'
import { describe, ScriptedKernel, type OnStage } from './scripted-kernel.ts'

interface ExecuteBody {
  readonly cells: readonly { readonly code: string }[]
}

/** A sandbox without a container: a server on a Unix socket that speaks the supervisor's protocol and verifies signatures. */
export class ScriptedSandbox {
  readonly socketPath: string
  readonly kernel: ScriptedKernel
  /** The major protocol version that it reports. */
  protocol = 1
  readonly #id: string
  readonly #key: KeyObject
  readonly #server: Server
  readonly #history: History
  readonly #onStage: OnStage
  readonly #nonces = new Set<string>()

  constructor(options: { id: string; publicKey: string; socketPath: string; history: History; onStage: OnStage }) {
    this.#id = options.id
    this.socketPath = options.socketPath
    this.#key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: options.publicKey }, format: 'jwk' })
    this.#history = options.history
    this.#onStage = options.onStage
    this.kernel = new ScriptedKernel(options.id, options.history, options.onStage)
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  /** A sandbox with the same memory and disk under another identity. It does not listen yet. */
  copy(identity: { readonly id: string; readonly publicKey: string; readonly socketPath: string }): ScriptedSandbox {
    const copy = new ScriptedSandbox({ ...identity, history: this.#history, onStage: this.#onStage })
    copy.kernel.markers = [...this.kernel.markers]
    copy.kernel.wasUsed = this.kernel.wasUsed
    for (const [path, bytes] of this.kernel.files) copy.kernel.files.set(path, bytes)
    return copy
  }

  async listen(): Promise<void> {
    this.#server.listen(this.socketPath)
    await once(this.#server, 'listening')
  }

  /** Its kernel stays as it is, and no client reaches it until it listens again. */
  async suspend(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()))
  }

  /** Stops at once, like a killed container. */
  async kill(): Promise<void> {
    if (this.kernel.isKilled) return
    this.kernel.kill()
    await this.suspend()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sandbox')
    const [, what = '', ...rest] = url.pathname.split('/')
    if (what === 'health') {
      await this.#onStage('health', this.#id, null)
      const state = { state: 'ready', boot_nonce: 'one', kernel: 'idle', kernel_generation: 1, python: '3.13', refused: [] }
      return sendJson(response, 200, { v: this.protocol, sandbox_id: this.#id, ...state })
    }
    if (!this.#isSigned(request)) return refuse(response, 401, 'unauthorized')
    if (what === 'executions') return this.#execution(request, response, url, rest)
    if (what === 'files') return this.#file(request, response, rest.map(decodeURIComponent).join('/'))
    if (what === 'snapshot') return this.#snapshot(response)
    if (what === 'restore') return this.#restore(request, response)
    refuse(response, 404, 'not_found')
  }

  async #execution(request: IncomingMessage, response: ServerResponse, url: URL, [id = '', verb]: readonly string[]): Promise<void> {
    const body = await readBody(request)
    if (verb === 'interrupt') {
      this.kernel.interrupt(id)
      return sendJson(response, 202, {})
    }
    if (request.method === 'PUT') {
      await this.#onStage('submitted', this.#id, id)
      if (this.kernel.isKilled) return void response.destroy()
      const { cells } = JSON.parse(body.toString()) as ExecuteBody
      if (!this.kernel.start(id, cells[0]?.code ?? '')) return refuse(response, 409, 'conflict')
    } else if (!this.kernel.has(id)) return refuse(response, 404, 'not_found')
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.flushHeaders()
    for await (const line of this.kernel.events(id, Number(url.searchParams.get('after') ?? -1))) {
      if (response.destroyed) return
      if (!response.write(line)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    if (this.kernel.isKilled) response.destroy()
    else response.end()
  }

  async #file(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { files } = this.kernel
    const present = files.get(path)
    if (request.method === 'PUT') {
      const bytes = await readBody(request)
      await this.#onStage('put_file', this.#id, null)
      this.#history.add({ type: 'pushed', sandbox: this.#id, path, sourceContainer: containerIn(bytes) })
      files.set(path, bytes)
      return sendJson(response, 200, describe(path, bytes, 'created'))
    }
    if (request.method === 'DELETE') {
      files.delete(path)
      return void response.writeHead(204).end()
    }
    if (path === '')
      return sendJson(response, 200, { files: [...files].map(([name, bytes]) => describe(name, bytes, 'created')), skipped: [] })
    if (present === undefined) return refuse(response, 404, 'not_found')
    await this.#onStage('get_file', this.#id, null)
    response.writeHead(200, { 'content-length': String(present.length) }).end(present)
  }

  async #snapshot(response: ServerResponse): Promise<void> {
    if (this.kernel.isBusy) return refuse(response, 409, 'conflict')
    await this.#onStage('snapshot', this.#id, null)
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.end(JSON.stringify({ v: 1, markers: this.kernel.markers }))
  }

  async #restore(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBody(request)
    await this.#onStage('restore', this.#id, null)
    if (this.kernel.wasUsed) return refuse(response, 409, 'conflict')
    this.kernel.markers = (JSON.parse(bytes.toString()) as { markers: string[] }).markers
    sendJson(response, 200, { restored: this.kernel.markers.length, lost: [], run_ms: 0, cpu_ms: 0 })
  }

  #isSigned(request: IncomingMessage): boolean {
    const [version, timestamp = '', nonce = '', signature = ''] = String(request.headers['cellblock-signature']).split(' ')
    if (version !== 'v1' || this.#nonces.has(nonce)) return false
    this.#nonces.add(nonce)
    const { method = '', url: target = '' } = request
    const signed = stringToSign({ sandboxId: this.#id, method, target, timestamp: Number(timestamp), nonce })
    return verify(null, Buffer.from(signed), this.#key, Buffer.from(signature, 'base64url'))
  }
}

/** Test files begin with the id of the container for which they were made. */
const containerIn = (bytes: Buffer): string | null => /^cntr_\w+/.exec(bytes.toString())?.[0] ?? null

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

function sendJson(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

const refuse = (response: ServerResponse, status: number, code: string): void =>
  sendJson(response, status, { error: { code, message: 'The scripted sandbox refused the request.' } })
