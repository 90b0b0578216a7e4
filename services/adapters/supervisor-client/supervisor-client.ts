import type { Duplex } from 'node:stream'
import * as z from 'zod'
import type { ByteStream } from '../../model/byte-stream.ts'
import { systemClock, type Clock } from '../../ports/clock.ts'
import { LinkError, type LinkRequest, type LinkResponse, type SandboxLink } from '../../ports/sandbox-link.ts'
import {
  SupervisorError,
  type CommandRequest,
  type ExecuteRequest,
  type NamespaceBudget,
  type SandboxHealth,
  type SnapshotStream,
  type Supervisor,
  type SupervisorEvent,
} from '../../ports/supervisor.ts'
import type { CommandInputEvent } from '../../model/events.ts'
import type { SandboxAddress, SandboxSession } from '../../model/sandboxes/sandbox.ts'
import { budgetQuery, commandBody, executeBody, inputBody } from './bodies.ts'
import { discard, isSuccess, portsSchema, readHealth, readAnswer, readUsage, restoredSchema, toRefusal, type Identity } from './answers.ts'
import { readEvents } from './event-stream.ts'
import { fileSchema, toFiles } from './events.ts'
import { fileTarget } from './file-target.ts'
import { createIdentityCheck, type IdentityCheck } from './identity.ts'
import { createSigner, SIGNATURE_HEADER, type Signer } from './signature.ts'

/** For requests that are answered at once, milliseconds. */
const SHORT_MS = 10_000
/** For a list of files, milliseconds: it hashes changed files, which may take as long as reading the whole disk. */
const LIST_MS = 120_000
/** The supervisor holds a health check no longer than this, milliseconds. */
const MAX_WAIT_MS = 30_000
const MAX_LIST_BYTES = 64 * 1024 * 1024

const JSON_BODY = { 'content-type': 'application/json' }
const InputAnswer = z.object({ through: z.number().int().min(-1) })
const BYTES_BODY = { 'content-type': 'application/octet-stream' }

class SupervisorClient implements Supervisor {
  readonly #link: SandboxLink
  readonly #sign: Signer
  readonly #identity: IdentityCheck

  constructor({ link, clock = systemClock }: { readonly link: SandboxLink; readonly clock?: Clock }) {
    this.#link = link
    this.#sign = createSigner(clock)
    this.#identity = createIdentityCheck((address, signal) => this.#askHealth(address, 0, signal), clock)
  }

  async health(address: SandboxAddress, waitMs: number, signal: AbortSignal): Promise<SandboxHealth> {
    const seen = await this.#askHealth(address, waitMs, signal)
    this.#identity.note(address, seen)
    return seen.health
  }

  async execute(
    session: SandboxSession,
    { executionId, request, after }: { readonly executionId: string; readonly request: ExecuteRequest; readonly after: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<SupervisorEvent>> {
    return this.#start(
      session,
      { what: `execution ${executionId}`, path: `/executions/${encodeURIComponent(executionId)}`, json: executeBody(request), after },
      signal,
    )
  }

  async runCommand(
    session: SandboxSession,
    { commandId, request, after }: { readonly commandId: string; readonly request: CommandRequest; readonly after: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<SupervisorEvent>> {
    return this.#start(
      session,
      { what: `command ${commandId}`, path: `/commands/${encodeURIComponent(commandId)}`, json: commandBody(request), after },
      signal,
    )
  }

  /** Starts an execution or a command, or attaches to a started one; yields the events after number `after`. */
  async #start(
    session: SandboxSession,
    { what, path, json, after }: { readonly what: string; readonly path: string; readonly json: Buffer; readonly after: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<SupervisorEvent>> {
    const body = { headers: JSON_BODY, body: json }
    const answer = await this.#request(session, { what, method: 'PUT', target: `${path}?after=${after}`, body }, signal)
    return readEvents(answer.body, after)
  }

  async sendInput(
    session: SandboxSession,
    commandId: string,
    entries: readonly CommandInputEvent[],
  ): Promise<{ readonly through: number }> {
    const target = `/commands/${encodeURIComponent(commandId)}/input`
    const body = { headers: JSON_BODY, body: inputBody(entries) }
    const answer = await this.#request(
      session,
      { what: `input of ${commandId}`, method: 'POST', target, body },
      AbortSignal.timeout(SHORT_MS),
    )
    return readAnswer(InputAnswer, answer.body)
  }

  async stopCommand(session: SandboxSession, commandId: string, killAfterMs: number): Promise<void> {
    const target = `/commands/${encodeURIComponent(commandId)}/stop`
    const body = { headers: JSON_BODY, body: Buffer.from(JSON.stringify({ kill_after_ms: killAfterMs })) }
    await this.#short(session, { what: `the end of ${commandId}`, method: 'POST', target, body })
  }

  async interrupt(session: SandboxSession, executionId: string, killAfterMs: number): Promise<void> {
    const target = `/executions/${encodeURIComponent(executionId)}/interrupt`
    const body = { headers: JSON_BODY, body: Buffer.from(JSON.stringify({ kill_after_ms: killAfterMs })) }
    await this.#short(session, { what: `the interrupt of ${executionId}`, method: 'POST', target, body })
  }

  async listFiles(session: SandboxSession): ReturnType<Supervisor['listFiles']> {
    const answer = await this.#request(
      session,
      { what: 'the list of files', method: 'GET', target: '/files' },
      AbortSignal.timeout(LIST_MS),
    )
    return toFiles(await readAnswer(z.unknown(), answer.body, MAX_LIST_BYTES))
  }

  async getFile(
    session: SandboxSession,
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly body: ByteStream } | null> {
    const answer = await this.#send(session, { method: 'GET', target: fileTarget(path) }, signal)
    if (answer.status === 404) return discard(answer.body).then(() => null)
    await demand(answer, 'a file')
    const length = answer.headers['content-length'] ?? ''
    if (!/^\d{1,15}$/.test(length)) throw new SupervisorError('protocol', 'The sandbox sent a file without its length.')
    return { bytes: Number(length), body: answer.body }
  }

  async putFile(
    session: SandboxSession,
    { path, bytes, body }: { readonly path: string; readonly bytes: number; readonly body: ByteStream },
    signal: AbortSignal,
  ): Promise<{ readonly sha256: string }> {
    const headers = { ...BYTES_BODY, 'content-length': String(bytes) }
    const answer = await this.#request(
      session,
      { what: 'a file', method: 'PUT', target: fileTarget(path), body: { headers, body } },
      signal,
    )
    const stored = await readAnswer(fileSchema, answer.body)
    if (stored.bytes !== bytes) throw new SupervisorError('protocol', `The sandbox stored ${stored.bytes} of ${bytes} bytes.`)
    return { sha256: stored.sha256 }
  }

  async deleteFile(session: SandboxSession, path: string): Promise<void> {
    await this.#short(session, { what: 'the removal of a file', method: 'DELETE', target: fileTarget(path) })
  }

  async listSkills(session: SandboxSession): Promise<readonly string[]> {
    const answer = await this.#request(
      session,
      { what: 'the list of skills', method: 'GET', target: '/skills' },
      AbortSignal.timeout(SHORT_MS),
    )
    return (await readAnswer(z.object({ folders: z.array(z.string().max(255)).max(1_000) }), answer.body)).folders
  }

  async putSkill(
    session: SandboxSession,
    { folder, bytes, body }: { readonly folder: string; readonly bytes: number; readonly body: ByteStream },
    signal: AbortSignal,
  ): Promise<void> {
    const headers = { ...BYTES_BODY, 'content-length': String(bytes) }
    const target = `/skills/${encodeURIComponent(folder)}`
    await discard((await this.#request(session, { what: 'a skill', method: 'PUT', target, body: { headers, body } }, signal)).body)
  }

  async openNetwork(session: SandboxSession, ca: string): Promise<void> {
    const body = { headers: JSON_BODY, body: Buffer.from(JSON.stringify({ v: 1, ca })) }
    await this.#short(session, { what: 'the network', method: 'PUT', target: '/network', body })
  }

  async closeNetwork(session: SandboxSession): Promise<void> {
    await this.#short(session, { what: 'the end of the network', method: 'DELETE', target: '/network' })
  }

  async acceptConnection(session: SandboxSession, signal: AbortSignal): Promise<Duplex> {
    return this.#upgrade(session, '/network/connections', signal)
  }

  async connectPort(session: SandboxSession, port: number, signal: AbortSignal): Promise<Duplex> {
    try {
      return await this.#upgrade(session, `/ports/${port}/connections`, signal)
    } catch (error) {
      if (!(error instanceof LinkError) || error.kind === 'refused') throw error
      const isListening = (await this.listPorts(session)).includes(port)
      throw isListening
        ? new SupervisorError('unavailable', `The program on port ${port} accepts no further connection.`)
        : new SupervisorError('not_found', `Nothing listens on port ${port}.`)
    }
  }

  async listPorts(session: SandboxSession): Promise<readonly number[]> {
    const answer = await this.#send(session, { method: 'GET', target: '/ports' }, AbortSignal.timeout(SHORT_MS))
    if (answer.status === 404) return discard(answer.body).then(() => [])
    return (await readAnswer(portsSchema, (await demand(answer, 'the list of ports')).body)).ports
  }

  async snapshot(session: SandboxSession, budget: NamespaceBudget, signal: AbortSignal): Promise<SnapshotStream> {
    const { body, trailers } = await this.#request(
      session,
      { what: 'a snapshot', method: 'POST', target: `/snapshot?${budgetQuery(budget)}` },
      signal,
    )
    return { body, usage: () => readUsage(trailers?.()[USAGE_TRAILER]) }
  }

  async restore(
    session: SandboxSession,
    { snapshot: { bytes, body }, budget, isCopy = false }: Parameters<Supervisor['restore']>[1],
    signal: AbortSignal,
  ): ReturnType<Supervisor['restore']> {
    // With its length the body is sent without chunked encoding, which costs a third of the transfer time.
    const headers = { ...BYTES_BODY, 'content-length': String(bytes) }
    const target = `/restore?unused=1${isCopy ? '&fresh_random=1' : ''}&${budgetQuery(budget)}`
    const answer = await this.#request(session, { what: 'a restore', method: 'POST', target, body: { headers, body } }, signal)
    const { run_ms: runMs, cpu_ms: cpuMs, ...restored } = await readAnswer(restoredSchema, answer.body, MAX_LIST_BYTES)
    return { ...restored, usage: { runMs, cpuMs } }
  }

  async suspend(session: SandboxSession): Promise<void> {
    const signal = AbortSignal.timeout(SHORT_MS)
    await discard((await this.#request(session, { what: 'the suspension', method: 'POST', target: '/suspend' }, signal)).body)
  }

  async #askHealth(address: SandboxAddress, waitMs: number, signal: AbortSignal): Promise<Identity> {
    const target = waitMs > 0 ? `/health?wait=${Math.min(waitMs, MAX_WAIT_MS)}` : '/health'
    const answer = await this.#link.request(address, { method: 'GET', target, headers: {} }, signal)
    return readHealth((await demand(answer, 'a health check')).body)
  }

  async #request(
    session: SandboxSession,
    { what, ...exchange }: Exchange & { readonly what: string },
    signal: AbortSignal,
  ): Promise<LinkResponse> {
    return demand(await this.#send(session, exchange, signal), what)
  }

  /** A connection that carries bytes after its head. */
  async #upgrade(session: SandboxSession, target: string, signal: AbortSignal): Promise<Duplex> {
    await this.#identity.prove(session, signal)
    const headers = { [SIGNATURE_HEADER]: this.#sign(session, 'POST', target) }
    return this.#link.upgrade(session.address, { method: 'POST', target, headers }, signal)
  }

  /** A request that is answered at once, without an answer to read. */
  async #short(session: SandboxSession, request: Exchange & { readonly what: string }): Promise<void> {
    await discard((await this.#request(session, request, AbortSignal.timeout(SHORT_MS))).body)
  }

  /** One signed exchange with exactly the session's sandbox. */
  async #send(session: SandboxSession, { method, target, body }: Exchange, signal: AbortSignal): Promise<LinkResponse> {
    try {
      await this.#identity.prove(session, signal)
      const headers = { ...body?.headers, [SIGNATURE_HEADER]: this.#sign(session, method, target) }
      const request = { method, target, headers, ...(body?.body && { body: body.body }) }
      const answer = await this.#link.request(session.address, request, signal)
      if (isSuccess(answer)) this.#identity.renew(session)
      else if (answer.status === 401) this.#identity.forget(session)
      return answer
    } catch (error) {
      if (error instanceof LinkError) this.#identity.forget(session)
      throw error
    }
  }
}

/** Client of the protocol in `runtime-image/PROTOCOL.md`, over any link. Errors of the supervisor are SupervisorError, failed connections LinkError. */
export const createSupervisorClient = (options: { readonly link: SandboxLink; readonly clock?: Clock }): Supervisor =>
  new SupervisorClient(options)

interface Exchange extends Pick<LinkRequest, 'method' | 'target'> {
  readonly body?: Pick<LinkRequest, 'headers' | 'body'> | undefined
}

async function demand(answer: LinkResponse, what: string): Promise<LinkResponse> {
  if (!isSuccess(answer)) throw await toRefusal(answer, what)
  return answer
}

const USAGE_TRAILER = 'cellblock-usage'
