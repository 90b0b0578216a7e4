import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSandbox } from '../../services/operations/sandboxes/new-sandbox.ts'
import type { SandboxSession } from '../../services/model/sandboxes/sandbox.ts'
import { stringToSign } from '../../services/adapters/supervisor-client/signature.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A supervisor on a Unix socket that verifies signatures and sends the replies of a test, including hostile ones. */
export async function startStubSupervisor(sandboxId: string) {
  const { privateKey, publicKey } = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: null }, 0)
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  const socketPath = join(mkdtempSync(join(tmpdir(), 'sup-')), 's.sock')
  const seen: string[] = []
  const nonces = new Set<string>()
  const answers = new Map<string, Answer>()
  const identity = { sandbox_id: sandboxId, boot_nonce: 'boot-1', v: 1 }
  let connections = 0

  const isSigned = (request: IncomingMessage): boolean => {
    const [version, timestamp = '', nonce = '', signature = ''] = String(request.headers['cellblock-signature']).split(' ')
    if (version !== 'v1' || nonces.has(nonce)) return false
    nonces.add(nonce)
    const signed = stringToSign({
      sandboxId: identity.sandbox_id,
      method: request.method ?? '',
      target: request.url ?? '',
      timestamp: Number(timestamp),
      nonce,
    })
    return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))
  }

  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (request.url?.startsWith('/health')) {
      response.end(JSON.stringify({ ...identity, state: 'ready', kernel: 'idle', kernel_generation: 1, python: '3.13.1', refused: [] }))
      return
    }
    if (!isSigned(request))
      return void sendJson(response, 401, { error: { code: 'unauthorized', message: 'The signature does not verify.' } })
    const answer = answers.get(`${request.method} ${request.url?.split('?')[0]}`)
    if (answer) answer(request, response)
    else sendJson(response, 404, { error: { code: 'not_found', message: 'There is nothing here.' } })
  })
  server.on('connection', () => connections++)
  server.listen(socketPath)
  await once(server, 'listening')
  const session: SandboxSession = { sandboxId, address: { kind: 'unix', socketPath }, privateKey }
  return {
    session,
    /** `METHOD target` of every request, in order. */
    seen,
    identity,
    connections: () => connections,
    on: (route: string, answer: Answer): unknown => answers.set(route, answer),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const sendJson = (response: ServerResponse, status: number, json: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

export const sendLines =
  (...lines: readonly unknown[]): Answer =>
  (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of lines) response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    response.end()
  }

export const readText = async (request: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

export const doneEvent = (seq: number) => ({
  seq,
  t: 1,
  type: 'done',
  outcome: 'ok',
  run_ms: 1,
  cpu_ms: 1,
  peak_memory_bytes: 1,
  output_bytes: 0,
  truncated: [],
  files: [],
  deleted: [],
  skipped: [],
  state_lost: null,
  kernel_generation: 1,
  exit: null,
})
