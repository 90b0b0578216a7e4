import { fork, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { NetworkAttachment, NetworkGateway, NetworkRequestReport } from '../../ports/network-gateway.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import type { FromGateway, GatewaySettings, ToGateway } from './messages.ts'

/** A gateway that was killed is back within this time on a busy machine, milliseconds. */
const ANSWER_MS = 15_000
/** An execution waits for the reports of its requests this long at most, milliseconds. */
const SETTLE_MS = 1_000
const RESTART_MS = [0, 200, 1_000, 5_000] as const
/** A process that ran this long, milliseconds, was no failed start. */
const STABLE_MS = 10_000

export interface ChildGatewayOptions {
  /** The module of the process. */
  readonly module: string
  /** Its whole environment, without secrets of the server. */
  readonly env: Readonly<Record<string, string>>
  readonly settings: GatewaySettings
  readonly supervisor: Pick<Supervisor, 'openNetwork'>
  readonly onReport: (report: NetworkRequestReport) => void
  /** The process ended without being asked to; it is started again. */
  readonly onExit: (code: number | null) => void
}

/**
 * The gateway as a child process: a fault in the handling of hostile bytes ends nothing else. While it is gone, user code reaches nothing. A new process gets
 * every attachment again.
 */
export class ChildGateway implements NetworkGateway {
  readonly #options: ChildGatewayOptions
  /** By container, with the sandbox whose listener is open. */
  readonly #attached = new Map<string, NetworkAttachment>()
  readonly #waiting = new Map<number, () => void>()
  #child: ChildProcess | null = null
  #started = Promise.withResolvers<string>()
  #number = 0
  #failures = 0
  #isStarted = false
  #isClosed = false

  constructor(options: ChildGatewayOptions) {
    this.#options = options
  }

  /** Of the process, for measurements and tests that kill it. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The first call starts the process: a server without policies has none. */
  readonly caCertificate = (): Promise<string> => {
    if (!this.#isStarted) this.#fork()
    return within(this.#started.promise, 'start')
  }

  async attach(attachment: NetworkAttachment): Promise<void> {
    const { containerId, session } = attachment
    const certificate = await this.caCertificate()
    if (this.#attached.get(containerId)?.session.sandboxId !== session.sandboxId)
      await this.#options.supervisor.openNetwork(session, certificate)
    this.#attached.set(containerId, attachment)
    await this.#ask((number) => ({ type: 'attach', number, attachment }))
  }

  async detach(containerId: string): Promise<void> {
    if (!this.#attached.delete(containerId)) return
    await this.#ask((number) => ({ type: 'detach', number, containerId }))
  }

  /** Resolves when every request that has ended was reported, or when the process does not answer. Never rejects. */
  async settle(): Promise<void> {
    if (this.#child?.connected !== true) return
    await this.#ask((number) => ({ type: 'settle', number }), SETTLE_MS).catch(() => undefined)
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#isClosed = true
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Resolves with the answer of the process, or of the next one, which gets the same attachments. */
  async #ask(message: (number: number) => ToGateway, maxMs = ANSWER_MS): Promise<void> {
    const number = ++this.#number
    const answer = new Promise<void>((resolve) => this.#waiting.set(number, resolve))
    try {
      this.#send(message(number))
      await within(answer, 'answer', maxMs)
    } finally {
      this.#waiting.delete(number)
    }
  }

  #send(message: ToGateway): void {
    // A message to a process that has just ended is lost; the next one starts with everything.
    if (this.#child?.connected === true) this.#child.send(message, () => undefined)
  }

  #fork(): void {
    this.#isStarted = true
    const startedAt = Date.now()
    const child = fork(this.#options.module, { serialization: 'json', execArgv: [], env: { ...this.#options.env } })
    this.#child = child
    child.on('message', (message) => this.#onMessage(message as FromGateway))
    child.on('error', () => undefined)
    child.once('exit', (code) => {
      if (this.#isClosed) return
      this.#options.onExit(code)
      this.#child = null
      this.#failures = Date.now() - startedAt > STABLE_MS ? 0 : this.#failures + 1
      void delay(RESTART_MS[Math.min(this.#failures, RESTART_MS.length - 1)]).then(() => this.#isClosed || this.#fork())
    })
    this.#send({ type: 'start', settings: this.#options.settings })
  }

  #onMessage(message: FromGateway): void {
    switch (message.type) {
      case 'started':
        this.#started.resolve(message.certificate)
        for (const attachment of this.#attached.values()) this.#send({ type: 'attach', number: 0, attachment })
        // What an ended process had not answered is in the attachments of this one.
        for (const resolve of this.#waiting.values()) resolve()
        return
      case 'done':
        this.#waiting.get(message.number)?.()
        return
      case 'report':
        this.#options.onReport(message.report)
        return
      case 'gone':
        this.#attached.delete(message.containerId)
    }
  }
}

async function within<T>(promise: Promise<T>, what: string, maxMs = ANSWER_MS): Promise<T> {
  const over = new AbortController()
  const late = delay(maxMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`The network gateway did not ${what} within ${maxMs / 1_000} s. Run the code again.`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
  }
}
