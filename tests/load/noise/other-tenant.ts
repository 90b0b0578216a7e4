import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { summarize } from '../../bench/statistics.ts'
import type { NativeClient } from '../../support/native-client.ts'
import type { Probe } from './hostile-forms.ts'

export interface Times {
  readonly p50: number
  readonly p99: number
}
export interface Measured {
  readonly times: Times
  readonly failures: readonly string[]
}

/** Time from one request to the next, milliseconds, whether or not the last one was answered: a stall of the server delays all that fall due in it. */
const EVERY_MS: Readonly<Record<Probe, number>> = { requests: 20, code: 200, turn: 100, webhook: 200, network: 100 }
const WEBHOOK_MS = 30_000
/** Plain requests, in turn. The first one needs a new connection. */
const PLAIN: readonly [Parameters<NativeClient['call']>, ...Parameters<NativeClient['call']>[]] = [
  ['GET', '/v1/limits', undefined, { connection: 'close' }],
  ['POST', '/v1/conversations', {}],
  ['GET', '/v1/containers'],
]
/** The host that its code requests. */
export const OTHER_HOST = 'quiet.example.com'

/** Requests on new connections, on the schedule. It prints the times in milliseconds, each with its failure or null. */
const NETWORK_PROGRAM = `
import http.client, json, ssl, sys, time
from concurrent.futures import ThreadPoolExecutor
every, count = float(sys.argv[1]) / 1e3, int(sys.argv[2])
context = ssl.create_default_context(cafile="/run/network/ca.pem")
def request():
    connection = http.client.HTTPSConnection("127.0.0.1", 3128, context=context, timeout=30)
    try:
        connection.set_tunnel("${OTHER_HOST}", 443)
        connection.request("GET", "/")
        answer = connection.getresponse()
        return None if answer.status == 200 and answer.read() else f"{answer.status} {answer.reason}"
    except Exception as error:
        return repr(error)
    finally:
        connection.close()
def attempt(number):
    due = start + number * every
    time.sleep(max(0, due - time.monotonic()))
    failure = request()
    return (time.monotonic() - due) * 1e3, failure
request()
start = time.monotonic()
with ThreadPoolExecutor(24) as pool:
    print(json.dumps(list(pool.map(attempt, range(count)))))`

/** The tenant that is measured. Its requests follow a fixed schedule. */
export class OtherTenant implements AsyncDisposable {
  readonly #client: NativeClient
  readonly #containerId: string
  readonly #receiver: Server
  /** Responses whose webhook has not arrived. */
  readonly #awaited = new Map<string, PromiseWithResolvers<undefined>>()

  private constructor(client: NativeClient, containerId: string) {
    this.#client = client
    this.#containerId = containerId
    this.#receiver = createServer((request, response) => {
      void text(request).then((body) => {
        this.#arrival((JSON.parse(body) as { data: { id: string } }).data.id).resolve(undefined)
        response.writeHead(204).end()
      })
    })
  }

  /** With the policy its code has a network. */
  static async prepare(client: NativeClient, policy?: unknown): Promise<OtherTenant> {
    const other = new OtherTenant(client, await client.createContainer('other'))
    if (policy !== undefined) await client.json('PUT', `/v1/containers/${other.#containerId}/network`, policy)
    await client.run(other.#containerId, { code: '1' })
    other.#receiver.listen(0, '127.0.0.1')
    await once(other.#receiver, 'listening')
    const { port } = other.#receiver.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    await client.json('POST', '/v1/webhook_endpoints', { name: 'other', url, event_types: ['response.completed'] })
    return other
  }

  async measure(probe: Probe, windowMs: number): Promise<Measured> {
    if (probe === 'network') return this.#measureNetwork(windowMs)
    const times: number[] = []
    const failures: string[] = []
    const start = performance.now()
    const one = async (number: number): Promise<void> => {
      const dueAt = start + number * EVERY_MS[probe]
      await delay(Math.max(0, dueAt - performance.now()))
      const failure = await this.#attempt(probe, number).catch((error: unknown) => String(error))
      times.push(performance.now() - dueAt)
      if (failure !== null) failures.push(`${probe}: ${failure}`)
    }
    await Promise.all(Array.from({ length: Math.max(1, Math.floor(windowMs / EVERY_MS[probe])) }, (_, number) => one(number)))
    const { median: p50, p99 } = summarize('ms', times)
    return { times: { p50, p99 }, failures }
  }

  /** Its own sandbox keeps the schedule, so that only the network is in the times. */
  async #measureNetwork(windowMs: number): Promise<Measured> {
    const count = Math.max(1, Math.floor(windowMs / EVERY_MS.network))
    const argv = ['python3', '-c', NETWORK_PROGRAM, String(EVERY_MS.network), String(count)]
    const path = `/v1/containers/${this.#containerId}/commands?wait=60`
    const { stdout, stderr } = await this.#client.json<{ stdout: string; stderr: string }>('POST', path, { argv })
    if (stdout === '') throw new Error(`The program of the network printed nothing: ${stderr}`)
    const samples = JSON.parse(stdout) as readonly (readonly [ms: number, failure: string | null])[]
    const { median: p50, p99 } = summarize(
      'ms',
      samples.map(([ms]) => ms),
    )
    return { times: { p50, p99 }, failures: samples.flatMap(([, failure]) => (failure === null ? [] : [`network: ${failure}`])) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#receiver.closeAllConnections()
    this.#receiver.close()
  }

  /** Null for an answer as expected. */
  async #attempt(probe: Exclude<Probe, 'network'>, number: number): Promise<string | null> {
    switch (probe) {
      case 'requests':
        return this.#call(...(PLAIN[number % PLAIN.length] ?? PLAIN[0]))
      case 'code': {
        const { status } = await this.#client.run(this.#containerId, { code: '1' })
        return status === 'succeeded' ? null : status
      }
      case 'turn':
        return this.#call('POST', '/v1/responses', { model: 'demo', input: 'x' })
      case 'webhook': {
        const { id } = await this.#client.json<{ id: string }>('POST', '/v1/responses', { model: 'demo', input: 'x', background: true })
        const late = AbortSignal.timeout(WEBHOOK_MS)
        const isLate = once(late, 'abort').then(() => 'no webhook arrived')
        return Promise.race([this.#arrival(id).promise.then(() => null), isLate])
      }
    }
  }

  async #call(...request: Parameters<NativeClient['call']>): Promise<string | null> {
    const [method, path] = request
    const answer = await this.#client.call(...request)
    await answer.arrayBuffer()
    return answer.status === 200 ? null : `${method} ${path}: ${answer.status}`
  }

  #arrival(id: string): PromiseWithResolvers<undefined> {
    const known = this.#awaited.get(id) ?? Promise.withResolvers<undefined>()
    this.#awaited.set(id, known)
    return known
  }
}
