import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ListenOptions } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LinkError, type SandboxLink } from '../../services/ports/sandbox-link.ts'
import type { SandboxAddress } from '../../services/model/sandboxes/sandbox.ts'

export interface LinkContractSetup {
  readonly link: SandboxLink
  readonly listen: ListenOptions
  /** The address of the server once it listens. */
  readonly address: (server: Server) => SandboxAddress
  /** An address without a listener. */
  readonly noListener: SandboxAddress
}

const encoder = new TextEncoder()
const never = new AbortController().signal

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The contract of every link, against a real HTTP server. */
export function sandboxLinkContract(name: string, setup: () => LinkContractSetup): void {
  describe(`SandboxLink: ${name}`, () => {
    const connections = new Set<object>()
    const aborted: string[] = []
    let server: Server
    let link: SandboxLink
    let address: SandboxAddress
    let noListener: SandboxAddress

    const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
      '/echo': (request, response) => {
        response.writeHead(200, {
          'x-method': request.method,
          'x-target': request.url,
          'x-signed': request.headers['cellblock-signature'] ?? '',
        })
        request.pipe(response)
      },
      '/hash': (request, response) => {
        const hash = createHash('sha256')
        request.on('data', (chunk: Buffer) => hash.update(chunk))
        request.on('end', () => response.end(hash.digest('hex')))
      },
      '/slow-stream': (request, response) => {
        response.writeHead(200)
        response.flushHeaders()
        response.write('first\n')
        request.on('close', () => aborted.push('slow-stream'))
      },
      '/half': (_request, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('only this', () => response.destroy())
      },
      '/hang-up': (request) => void request.socket.destroy(),
      '/no-body': (_request, response) => void response.writeHead(204).end(),
      '/large': (_request, response) => {
        response.writeHead(200)
        let left = 64
        const more = (): void => {
          while (left-- > 0) if (!response.write(Buffer.alloc(1024 * 1024, left))) return void response.once('drain', more)
          response.end()
        }
        more()
      },
    }

    beforeAll(async () => {
      const made = setup()
      link = made.link
      noListener = made.noListener
      server = createServer((request, response) => routes[new URL(request.url ?? '/', 'http://x').pathname]?.(request, response))
      server.keepAliveTimeout = 60_000
      server.on('connection', (socket) => {
        connections.add(socket)
        socket.on('close', () => connections.delete(socket))
      })
      server.listen(made.listen)
      await once(server, 'listening')
      address = made.address(server)
    })
    afterAll(async () => {
      await link.close()
      server.closeAllConnections()
      server.close()
    })

    it('sends method, target, headers and body exactly as given', async () => {
      const answer = await link.request(
        address,
        { method: 'PUT', target: '/echo?after=-1&p=%2Fa%20b', headers: { 'cellblock-signature': 'v1 x' }, body: encoder.encode('héllo') },
        never,
      )
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({ 'x-method': 'PUT', 'x-target': '/echo?after=-1&p=%2Fa%20b', 'x-signed': 'v1 x' })
      expect((await readAll(answer.body)).toString()).toBe('héllo')
    })

    it('reuses connections for later requests', async () => {
      for (let i = 0; i < 20; i++) await readAll((await link.request(address, { method: 'GET', target: '/echo', headers: {} }, never)).body)
      // A request sent at the moment at which a reply ends may use a second connection.
      expect(connections.size).toBeLessThanOrEqual(2)
    })

    it('handles several requests concurrently', async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          link.request(address, { method: 'POST', target: '/echo', headers: {}, body: encoder.encode(`n${i}`) }, never),
        ),
      )
      expect((await Promise.all(answers.map((answer) => readAll(answer.body)))).map(String)).toEqual([
        'n0',
        'n1',
        'n2',
        'n3',
        'n4',
        'n5',
        'n6',
        'n7',
      ])
    })

    it('streams a body in, of known and of unknown length', async () => {
      const part = Buffer.alloc(256 * 1024, 7)
      async function* body(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 64; i++) yield part
      }
      const expected = createHash('sha256')
      for (let i = 0; i < 64; i++) expected.update(part)
      const want = expected.digest('hex')
      const known = await link.request(
        address,
        { method: 'PUT', target: '/hash', headers: { 'content-length': String(64 * part.length) }, body: body() },
        never,
      )
      const unknown = await link.request(address, { method: 'PUT', target: '/hash', headers: {}, body: body() }, never)
      expect([String(await readAll(known.body)), String(await readAll(unknown.body))]).toEqual([want, want])
    })

    it('streams a large reply at the pace of its reader', async () => {
      const answer = await link.request(address, { method: 'GET', target: '/large', headers: {} }, never)
      let bytes = 0
      for await (const chunk of answer.body) bytes += chunk.length
      expect(bytes).toBe(64 * 1024 * 1024)
    })

    it('returns the headers before the body has ended, and lets a reader stop early', async () => {
      const answer = await link.request(address, { method: 'GET', target: '/slow-stream', headers: {} }, never)
      for await (const chunk of answer.body) {
        expect(Buffer.from(chunk).toString()).toBe('first\n')
        break
      }
      await expect.poll(() => aborted).toEqual(['slow-stream'])
    })

    it('ends a silent stream with the reason of its signal', async () => {
      const stop = new AbortController()
      const answer = await link.request(address, { method: 'GET', target: '/slow-stream', headers: {} }, stop.signal)
      const reading = readAll(answer.body)
      stop.abort(new Error('enough'))
      await expect(reading).rejects.toThrow('enough')
      await expect(link.request(address, { method: 'GET', target: '/echo', headers: {} }, stop.signal)).rejects.toThrow('enough')
    })

    it('reports refused without a listener', async () => {
      const failure = await link
        .request(noListener, { method: 'PUT', target: '/echo', headers: {}, body: encoder.encode('x') }, never)
        .catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(LinkError)
      expect(failure).toMatchObject({ kind: 'refused' })
    })

    it('reports broken when the sandbox disconnects after the request', async () => {
      const failure = await link
        .request(address, { method: 'POST', target: '/hang-up', headers: {} }, never)
        .catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'LinkError', kind: 'broken' })
    })

    it('reports broken when the reply ends early', async () => {
      const answer = await link.request(address, { method: 'GET', target: '/half', headers: {} }, never)
      const failure = await readAll(answer.body).catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'LinkError', kind: 'broken' })
    })

    it('rejects with the error of the request body', async () => {
      async function* body(): AsyncGenerator<Uint8Array> {
        yield encoder.encode('some')
        throw new Error('the source dried up')
      }
      await expect(link.request(address, { method: 'PUT', target: '/hash', headers: {}, body: body() }, never)).rejects.toThrow(
        'the source dried up',
      )
    })

    it('returns an empty body as an empty stream', async () => {
      const answer = await link.request(address, { method: 'DELETE', target: '/no-body', headers: {} }, never)
      expect([answer.status, (await readAll(answer.body)).length]).toEqual([204, 0])
    })

    it('drops idle connections when closed, and connects again afterwards', async () => {
      await readAll((await link.request(address, { method: 'GET', target: '/echo', headers: {} }, never)).body)
      await link.close(address)
      await expect.poll(() => connections.size).toBe(0)
      expect((await link.request(address, { method: 'DELETE', target: '/no-body', headers: {} }, never)).status).toBe(204)
    })
  })
}
