import { setTimeout as delay } from 'node:timers/promises'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../errors.ts'

/** How often a call is repeated while the server does not answer, milliseconds. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
const HTTP_TOO_MANY = 429
const HTTP_SERVER_ERROR = 500

export interface ToolCode {
  /** The id of the tool call. Calls with the same id run once, whichever worker makes them. */
  readonly callId: string
  readonly language: 'bash' | 'python'
  readonly code: string
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

/** How code ended, as the API answers it. */
export interface ToolRun {
  readonly status: string
  readonly stdout: string
  readonly stderr: string
  readonly error: { readonly name: string; readonly value: string } | null
  readonly ended_at: string | null
}

/** The container of a session of Claude's managed agents: the newest one with the name `claude:<session>`. */
export class SessionContainer {
  readonly #api: ApiClient
  readonly #sessionId: string
  readonly #image: string | undefined
  #id: Promise<string> | null = null

  constructor(api: ApiClient, options: { readonly sessionId: string; readonly image: string | undefined }) {
    this.#api = api
    this.#sessionId = options.sessionId
    this.#image = options.image
  }

  /** Finds or creates the container. */
  id(signal: AbortSignal): Promise<string> {
    this.#id ??= repeated(() => this.#findOrCreate(), signal).catch((error: unknown) => {
      this.#id = null
      throw error
    })
    return this.#id
  }

  /** Runs code to its end. A worker that takes over a session repeats the call and gets the result of the first. */
  async run({ callId, language, code, timeoutSeconds, signal }: ToolCode): Promise<ToolRun> {
    const container = await this.id(signal)
    const api = this.#api.once(`claude:${this.#sessionId}:${callId}`)
    const path = `/v1/containers/${encodeURIComponent(container)}/executions?wait=60`
    const asked = { code, language, timeout_seconds: timeoutSeconds }
    let run = await repeated(() => api.call('POST', path, asked), signal)
    while (run['ended_at'] === null)
      run = await repeated(() => this.#api.call('GET', `/v1/executions/${String(run['id'])}?wait=60`), signal)
    return run as unknown as ToolRun
  }

  async #findOrCreate(): Promise<string> {
    const name = `claude:${this.#sessionId}`
    const found = await this.#api.call('GET', `/v1/containers?limit=1&name=${encodeURIComponent(name)}`)
    const [known] = found['data'] as readonly { readonly id: string }[]
    if (known !== undefined) return known.id
    const image = this.#image === undefined ? {} : { image: this.#image }
    return String((await this.#api.once(name).call('POST', '/v1/containers', { name, ...image }))['id'])
  }
}

/** Repeats a call that has one effect, until the server answers it. Rejects with the signal's reason, or with the server's refusal. */
async function repeated<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted()
    try {
      return await Promise.race([call(), aborted(signal)])
    } catch (error) {
      signal.throwIfAborted()
      const isFinal =
        error instanceof CliError && error.status !== undefined && error.status < HTTP_SERVER_ERROR && error.status !== HTTP_TOO_MANY
      if (isFinal) throw error
    }
    await delay(pause, undefined, { signal })
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
