import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { List } from '../api/types.ts'
import { followEvents } from './follow.ts'
import { currentChat, ensureChat } from './chats.ts'
import { ensureContainer, refreshFiles, withReplacements } from './workspace.ts'

/** Marks the commands that this page shows as terminals, so that a reload finds them. */
const MARK = { page: 'terminal' } as const
const SHELL = ['/bin/bash', '-l'] as const
const ACTIVE: readonly string[] = ['queued', 'starting', 'running']

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

interface WireCommand {
  readonly id: string
  readonly status: string
  readonly exit_code: number | null
  readonly metadata: Readonly<Record<string, string>>
}

export type TerminalState =
  | { readonly kind: 'starting' | 'open' | 'lost' }
  | { readonly kind: 'ended'; readonly exitCode: number | null }
  | { readonly kind: 'failed'; readonly message: string }

export const isTerminalOpen = signal(false)

/**
 * A shell in the container of the current chat: the one that runs there, or a new one. `write` receives its output from its beginning, also after
 * a reload of the page.
 */
export class TerminalSession {
  readonly state = signal<TerminalState>({ kind: 'starting' })
  readonly #write: (text: string) => void
  readonly #stopping = new AbortController()
  #id: string | null = null
  /** Typed text that no request has taken yet. */
  #typed = ''
  #size: TerminalSize
  #isSending = false

  constructor(size: TerminalSize, write: (text: string) => void) {
    this.#size = size
    this.#write = write
  }

  async run(): Promise<void> {
    const { signal: stopped } = this.#stopping
    try {
      const command = await withReplacements(currentChat.value, () => this.#open())
      this.#id = command.id
      this.state.value = { kind: 'open' }
      void this.#send()
      await this.#follow(command.id, stopped)
      // A shell that has ended takes no input, size or signal.
      this.#id = null
      const ended = await call<WireCommand>(`/v1/commands/${command.id}`)
      this.state.value = { kind: 'ended', exitCode: ended.exit_code }
      // The end of a command stores the files that it wrote.
      void refreshFiles()
    } catch (error) {
      if (!stopped.aborted) this.state.value = { kind: 'failed', message: messageOf(error) }
    }
  }

  type(text: string): void {
    this.#typed += text
    void this.#send()
  }

  resize(size: TerminalSize): void {
    this.#size = size
    if (this.#id !== null) void call(`/v1/commands/${this.#id}/resize`, { body: size }).catch(() => undefined)
  }

  /** Stops reading; the shell itself continues until it is cancelled. */
  leave(): void {
    this.#stopping.abort()
  }

  /** Ends the shell and its programs. */
  async end(): Promise<void> {
    if (this.#id !== null) await call(`/v1/commands/${this.#id}/cancel`, { method: 'POST' })
  }

  async #container(): Promise<string> {
    const chat = currentChat.value
    await ensureChat(chat)
    return ensureContainer(chat)
  }

  async #open(): Promise<WireCommand> {
    const container = await this.#container()
    const path = `/v1/containers/${container}/commands`
    const { data } = await call<List<WireCommand>>(path)
    const found = data.find(({ metadata, status }) => metadata['page'] === MARK.page && ACTIVE.includes(status))
    if (found !== undefined) {
      await call(`/v1/commands/${found.id}/resize`, { body: this.#size }).catch(() => undefined)
      return found
    }
    const { limits } = await call<{ readonly limits: Readonly<Record<string, { readonly value: number }>> }>('/v1/limits')
    return call<WireCommand>(`${path}?wait=0`, {
      body: {
        argv: SHELL,
        env: { TERM: 'xterm-256color', PS1: '\\[\\e[34m\\]\\w\\[\\e[0m\\] $ ' },
        pty: this.#size,
        timeout_seconds: limits['max_timeout_seconds']?.value ?? null,
        metadata: MARK,
      },
    })
  }

  async #follow(id: string, stopped: AbortSignal): Promise<void> {
    let last = -1
    let isOver = false
    await followEvents({
      address: () => `/v1/commands/${id}/events?after=${last}`,
      hasEnded: () => isOver,
      onEvent: ({ event, data }) => {
        const fields = JSON.parse(data) as { readonly seq: number; readonly text?: string }
        if (fields.seq <= last) return
        last = fields.seq
        if ((event === 'stdout' || event === 'stderr') && fields.text !== undefined) this.#write(fields.text)
        isOver = event === 'done'
      },
      onConnection: (state) => void (this.state.value = { kind: state }),
      signal: stopped,
    })
  }

  /** One request at a time keeps the order; what is typed meanwhile goes with the next one. */
  async #send(): Promise<void> {
    if (this.#isSending || this.#id === null) return
    this.#isSending = true
    try {
      while (this.#typed !== '') {
        const data = this.#typed
        this.#typed = ''
        await call(`/v1/commands/${this.#id}/stdin`, { body: { data } })
      }
    } catch {
      // The end of the command, or a lost connection, shows in the state.
    } finally {
      this.#isSending = false
    }
  }
}
