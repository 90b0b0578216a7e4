import type { IncomingHttpHeaders } from 'node:http'
import type { Container } from '../../model/containers/container.ts'
import type { PortAccess, Visit } from './port-access.ts'
import { notOpened, PortError } from './port-error.ts'
import type { PortExchange } from './port-exchange.ts'

/** A connection on which no byte moves for this time ends, milliseconds. */
const IDLE_MS = 300_000
/** What ends while connections are open (publications, containers, tokens) ends them within this time, milliseconds. */
const REVIEW_MS = 2_000

export interface ReviewOptions {
  /** Visitors use the container. */
  readonly keepAwake: (container: Container) => Promise<void>
  readonly idleMs?: number
}

interface Visitor {
  readonly visit: Visit
  readonly headers: IncomingHttpHeaders
}

interface Open extends Visitor {
  readonly exchange: PortExchange
  sent: number
  all: number
  movedAt: number
}

/** The connections to programs that are open. It ends those that are idle, and those that no new request would get. */
export class OpenExchanges {
  readonly #access: Pick<PortAccess, 'visit'>
  readonly #options: ReviewOptions
  readonly #open = new Set<Open>()
  readonly #timer = setInterval(() => void this.#review().catch(() => undefined), REVIEW_MS).unref()

  constructor(access: Pick<PortAccess, 'visit'>, options: ReviewOptions) {
    this.#access = access
    this.#options = options
  }

  /** Returns a function that removes it. */
  add(exchange: PortExchange, visitor: Visitor): () => void {
    const open: Open = { exchange, ...visitor, ...exchange.traffic, movedAt: performance.now() }
    this.#open.add(open)
    this.#keepAwake(visitor.visit.container)
    return () => void this.#open.delete(open)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { exchange } of this.#open) exchange.end()
  }

  async #review(): Promise<void> {
    this.#endIdle(performance.now())
    for (const { exchange, visit, headers } of [...this.#open]) {
      const again = await this.#access.visit(visit.host, headers).catch(() => null)
      if (again === null || again.container.sandboxId !== visit.container.sandboxId) exchange.end(notOpened())
    }
  }

  #endIdle(now: number): void {
    const { idleMs = IDLE_MS } = this.#options
    const used = new Map<string, Container>()
    for (const open of this.#open) {
      const traffic = open.exchange.traffic
      if (traffic.sent !== open.sent) used.set(open.visit.container.id, open.visit.container)
      if (traffic.all !== open.all) Object.assign(open, traffic, { movedAt: now })
      if (now - open.movedAt > idleMs)
        open.exchange.end(new PortError(504, 'no_answer', `The program on this port was silent for ${idleMs / 1000} seconds.`))
    }
    for (const container of used.values()) this.#keepAwake(container)
  }

  #keepAwake(container: Container): void {
    this.#options.keepAwake(container).catch(() => undefined)
  }
}
