import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { List } from '../api/types.ts'

export const isAppOpen = signal(false)

/** The default port of Streamlit. */
export const FIRST_PORT = 8501

interface WirePort {
  readonly port: number
}

export type AppState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'none'; readonly message: string | null }
  /** `url` opens the port in one frame, once. */
  | { readonly kind: 'shown'; readonly port: number; readonly url: string }

/** A published port of a container: one at a time in this page. */
export class AppPreview {
  readonly state = signal<AppState>({ kind: 'loading' })
  readonly #path: string

  constructor(containerId: string) {
    this.#path = `/v1/containers/${containerId}/ports`
  }

  /** Shows the port that is published already. */
  async load(): Promise<void> {
    await this.#change(async () => {
      const [first] = (await call<List<WirePort>>(this.#path)).data
      return first === undefined ? { kind: 'none', message: null } : this.#show(first.port)
    })
  }

  /** Publishes the port, or makes another link to it. */
  async publish(port: number): Promise<void> {
    await this.#change(() => this.#show(port))
  }

  /** Another browser tab gets its own link. */
  async open(port: number): Promise<void> {
    const { url } = await this.#link(port)
    open(url, '_blank', 'noopener')
  }

  async unpublish(port: number): Promise<void> {
    await this.#change(async () => {
      await call(`${this.#path}/${port}`, { method: 'DELETE' })
      return { kind: 'none', message: `Port ${port} is not published any more.` }
    })
  }

  async #change(next: () => Promise<AppState>): Promise<void> {
    this.state.value = { kind: 'loading' }
    this.state.value = await next().catch((error: unknown): AppState => ({ kind: 'none', message: messageOf(error) }))
  }

  async #show(port: number): Promise<AppState> {
    const { url } = await this.#link(port)
    return { kind: 'shown', port, url }
  }

  #link(port: number): Promise<{ readonly url: string }> {
    return call<{ readonly url: string }>(this.#path, { body: { port } })
  }
}
