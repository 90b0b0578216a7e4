import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { containerOptions, MIN_SHARES, SANDBOX_LABEL, SHARES_WHEN_READY } from '../../adapters/drivers/docker/container-options.ts'
import { controlFolder, hostsFileOf, writeHostsFile } from '../../adapters/drivers/docker/control-folder.ts'
import { readSandboxRequest } from '../../adapters/drivers/docker/read-sandbox-request.ts'
import { readSeccompProfile } from '../../adapters/drivers/docker/seccomp-profile.ts'
import type { EngineClient, EngineRequest } from './engine-client.ts'
import { readCall, type EngineCall } from './read-call.ts'

/** A body is a sandbox with the profile of system calls, 30 kB. */
const MAX_BODY_BYTES = 1024 ** 2

class EngineRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** What the driver changes of a sandbox that runs: its share of the processors, up to the one with which it starts. */
const Weight = z.strictObject({ CpuShares: z.int().min(MIN_SHARES).max(SHARES_WHEN_READY) })

/** Names the proxy whose server started a sandbox. */
const OWNER_LABEL = 'cellblock.engine-proxy'

export interface EngineProxyOptions {
  readonly engine: EngineClient
  /** Distinguishes the sandboxes of this proxy from all other containers of the engine. */
  readonly owner: string
  readonly images: readonly string[]
  readonly runtime: string | undefined
  /** The folder of control sockets, as this process and the server see it. */
  readonly controlDir: string
  /** The same folder, as the engine sees it. */
  readonly controlDirOfEngine: string
}

interface Answer {
  readonly status: number
  readonly body?: unknown
}

const REFUSED = 'This engine proxy permits only what the driver of sandboxes asks for.'

/**
 * Passes the calls of the Docker driver to the engine and refuses every other one. A new container is exactly a sandbox as the driver of this version
 * makes it, and only sandboxes of this proxy can be read, started, waited for and removed: an attacker who controls the server does not control the machine.
 */
export class EngineProxy {
  readonly #options: EngineProxyOptions
  readonly #seccompProfile = readSeccompProfile()

  constructor(options: EngineProxyOptions) {
    this.#options = options
  }

  /** Removes folders whose sandboxes ended while no proxy ran. */
  async removeStaleFolders(signal: AbortSignal): Promise<void> {
    const { controlDir } = this.#options
    const listed = await this.#list({ labels: [], isWhole: false }, signal)
    const folders = (listed.body as readonly Listed[]).map(({ Labels }) => controlFolder(controlDir, Labels[SANDBOX_LABEL] ?? ''))
    const kept = new Set([...folders, hostsFileOf(controlFolder(controlDir, ''))].map((path) => basename(path)))
    const stale = (await readdir(controlDir)).filter((name) => !kept.has(name))
    await Promise.all(stale.map((name) => rm(join(controlDir, name), { recursive: true, force: true })))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ended = new AbortController()
    response.once('close', () => ended.abort())
    try {
      const call = readCall(request.method ?? '', request.url ?? '')
      if (call === null) throw new EngineRefusal(403, REFUSED)
      if (call.kind === 'wait') return await this.#wait(call, response, ended.signal)
      const body = call.kind === 'create' || call.kind === 'update' ? await bodyOf(request) : undefined
      respond(response, await this.#perform(call, body, ended.signal))
    } catch (error) {
      if (response.headersSent) response.destroy()
      if (ended.signal.aborted || response.headersSent) return
      const [status, message] =
        error instanceof EngineRefusal ? [error.status, error.message] : [502, `The engine did not answer: ${String(error)}`]
      respond(response, { status, body: { message } })
    }
  }

  async #perform(call: Exclude<EngineCall, { kind: 'wait' }>, body: unknown, signal: AbortSignal): Promise<Answer> {
    const { engine } = this.#options
    switch (call.kind) {
      case 'ping':
        return engine.read({ method: 'GET', path: '/_ping', signal })
      case 'info':
        return picked(await engine.read({ method: 'GET', path: '/info', signal }), ['MemTotal', 'Runtimes'])
      case 'image':
        if (!this.#options.images.includes(call.image)) throw new EngineRefusal(404, `No such image: ${call.image}`)
        return picked(await engine.read({ method: 'GET', path: `/images/${encodeURIComponent(call.image)}/json`, signal }), ['Id'])
      case 'list':
        return this.#list(call, signal)
      case 'create':
        return this.#create(body, signal)
      case 'inspect':
        return { status: 200, body: await this.#own(call.container, signal) }
      case 'start':
        return engine.read({ method: 'POST', path: `/containers/${(await this.#own(call.container, signal)).Id}/start`, signal })
      case 'update':
        return this.#update(call.container, body, signal)
      case 'remove':
        return this.#remove(call.container, signal)
    }
  }

  async #list(
    { labels, isWhole }: { readonly labels: readonly string[]; readonly isWhole: boolean },
    signal: AbortSignal,
  ): Promise<Answer> {
    const label = isWhole ? labels : [...labels, `${OWNER_LABEL}=${this.#options.owner}`]
    const filters = encodeURIComponent(JSON.stringify({ label }))
    const { status, body } = await this.#options.engine.read({
      method: 'GET',
      path: `/containers/json?all=true&filters=${filters}`,
      signal,
    })
    if (status !== 200) return { status, body }
    const found = body as readonly Listed[]
    return { status, body: isWhole ? found.map(() => ({})) : found.map(({ Id, Labels, Created }) => ({ Id, Labels, Created })) }
  }

  async #create(body: unknown, signal: AbortSignal): Promise<Answer> {
    const { engine, owner, images, runtime, controlDir, controlDirOfEngine } = this.#options
    const fixed = { controlFolderOf: (sandboxId: string) => controlFolder(controlDir, sandboxId), seccompProfile: this.#seccompProfile }
    const asked = readSandboxRequest(body, fixed)
    if (asked === null || !images.includes(asked.plan.image) || asked.plan.runtime !== runtime) throw new EngineRefusal(403, REFUSED)
    const { sandboxId } = asked.spec
    const folder = controlFolder(controlDir, sandboxId)
    const { name, Labels, ...options } = containerOptions(asked.spec, {
      ...asked.plan,
      controlFolder: controlFolder(controlDirOfEngine, sandboxId),
    })
    // The server cannot write into the folder above, so nothing can take the place of this one before the engine mounts it.
    await writeHostsFile(folder)
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined
    await chmod(folder, 0o777)
    const created = { ...options, Labels: { ...Labels, [OWNER_LABEL]: owner } }
    const answer = await engine.read({ method: 'POST', path: `/containers/create?name=${name}`, body: created, signal })
    if (answer.status >= 400 && isNew) await rm(folder, { recursive: true, force: true })
    return answer
  }

  async #update(container: string, body: unknown, signal: AbortSignal): Promise<Answer> {
    const { Id } = await this.#own(container, signal)
    const asked = Weight.safeParse(body)
    if (!asked.success) throw new EngineRefusal(403, REFUSED)
    return this.#options.engine.read({ method: 'POST', path: `/containers/${Id}/update`, body: asked.data, signal })
  }

  async #remove(container: string, signal: AbortSignal): Promise<Answer> {
    const { Id, Config } = await this.#own(container, signal)
    const answer = await this.#options.engine.read({ method: 'DELETE', path: `/containers/${Id}?force=true&v=true`, signal })
    const sandboxId = Config.Labels[SANDBOX_LABEL]
    if (answer.status < 300 && sandboxId !== undefined)
      await rm(controlFolder(this.#options.controlDir, sandboxId), { recursive: true, force: true })
    return answer
  }

  /** The engine sends headers at once and the body when the container has ended. */
  async #wait({ container, condition }: EngineCall & { kind: 'wait' }, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { Id } = await this.#own(container, signal)
    const asked: EngineRequest = {
      method: 'POST',
      path: `/containers/${Id}/wait${condition === null ? '' : `?condition=${condition}`}`,
      signal,
    }
    const answer = await this.#options.engine.send(asked)
    response.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' }).flushHeaders()
    await pipeline(answer, response)
  }

  /** A container of others is answered like one that does not exist. */
  async #own(container: string, signal: AbortSignal): Promise<Inspected> {
    const { status, body } = await this.#options.engine.read({ method: 'GET', path: `/containers/${container}/json`, signal })
    const found = body as Inspected
    if (status !== 200 || found.Config.Labels[OWNER_LABEL] !== this.#options.owner)
      throw new EngineRefusal(status === 200 ? 404 : status, `No such container: ${container}`)
    return found
  }
}

interface Listed {
  readonly Id: string
  readonly Labels: Readonly<Record<string, string>>
  readonly Created: number
}

interface Inspected {
  readonly Id: string
  readonly Config: { readonly Labels: Readonly<Record<string, string>> }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES))
    throw new EngineRefusal(413, `A body has at most ${MAX_BODY_BYTES} bytes and states its length.`)
  try {
    return await json(request)
  } catch (cause) {
    throw new EngineRefusal(400, 'The body is not JSON.', { cause })
  }
}

/** An answer with these members of its body only. */
const picked = ({ status, body }: Answer, names: readonly string[]): Answer => ({
  status,
  body: status === 200 ? Object.fromEntries(Object.entries(body as object).filter(([name]) => names.includes(name))) : body,
})

function respond(response: ServerResponse, { status, body }: Answer): void {
  const isEmpty = body === undefined || status === 204 || status === 304
  response.writeHead(status, isEmpty ? {} : { 'content-type': 'application/json' }).end(isEmpty ? undefined : JSON.stringify(body))
}
