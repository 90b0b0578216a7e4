import { setTimeout as delay } from 'node:timers/promises'
import type { NetworkAttachment } from '../../ports/network-gateway.ts'
import { SupervisorError, type Supervisor } from '../../ports/supervisor.ts'
import { ContainerProxy, type ProxyContext } from './container-proxy.ts'
import { TenantBudget } from './tenant-budget.ts'
import { Turns } from './turns.ts'

/** Connections to one supervisor that wait for user code. Another one is opened when code takes one. */
const READY_CONNECTIONS = 4
/** Waits between failed connections to a supervisor, milliseconds; after the last one the sandbox counts as gone. */
const RETRY_MS = [100, 300, 1_000, 3_000] as const

type AcceptPort = Pick<Supervisor, 'acceptConnection'>

export interface GatewayOptions extends Omit<ProxyContext, 'turns'> {
  readonly supervisor: AcceptPort
  /** The sandbox of an attached container no longer answers; the container was detached. */
  readonly onGone: (containerId: string) => void
}

/** Serves the network of containers. It connects to their supervisors; nothing connects to it. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #turns = new Turns()
  readonly #containers = new Map<string, AttachedContainer>()
  readonly #budgets = new Map<string, TenantBudget>()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  /** Idempotent; replaces the policy of an attached container at once. A container with a new sandbox is served there. */
  attach(attachment: NetworkAttachment): void {
    const { containerId, session } = attachment
    const known = this.#containers.get(containerId)
    const budget = this.#budgetOf(attachment)
    if (known?.isIn(session.sandboxId) === true) return known.replace(attachment)
    known?.close()
    const proxy = new ContainerProxy({ ...this.#options, turns: this.#turns }, budget, attachment)
    const container = new AttachedContainer(attachment, proxy, {
      supervisor: this.#options.supervisor,
      budget,
      onGone: () => this.#drop(containerId, container),
    })
    this.#containers.set(containerId, container)
    container.start()
  }

  /** Ends every connection of the container. Idempotent. */
  detach(containerId: string): void {
    this.#containers.get(containerId)?.close()
    this.#containers.delete(containerId)
    this.#removeUnusedBudgets()
  }

  close(): void {
    for (const containerId of [...this.#containers.keys()]) this.detach(containerId)
  }

  #drop(containerId: string, container: AttachedContainer): void {
    if (this.#containers.get(containerId) !== container) return
    this.detach(containerId)
    this.#options.onGone(containerId)
  }

  #budgetOf({ tenant, limits }: NetworkAttachment): TenantBudget {
    const known = this.#budgets.get(tenant)
    if (known !== undefined) {
      known.limits = limits
      return known
    }
    const budget = new TenantBudget(limits, this.#options.now)
    this.#budgets.set(tenant, budget)
    return budget
  }

  #removeUnusedBudgets(): void {
    const tenants = new Set([...this.#containers.values()].map(({ tenant }) => tenant))
    for (const [tenant, budget] of this.#budgets) if (!tenants.has(tenant) && budget.connections === 0) this.#budgets.delete(tenant)
  }
}

/** One container and the connections to its supervisor. */
class AttachedContainer {
  readonly #supervisor: AcceptPort
  readonly #proxy: ContainerProxy
  readonly #budget: TenantBudget
  readonly #onGone: () => void
  readonly #closing = new AbortController()
  #attachment: NetworkAttachment

  constructor(
    attachment: NetworkAttachment,
    proxy: ContainerProxy,
    { supervisor, budget, onGone }: { readonly supervisor: AcceptPort; readonly budget: TenantBudget; readonly onGone: () => void },
  ) {
    this.#supervisor = supervisor
    this.#budget = budget
    this.#attachment = attachment
    this.#proxy = proxy
    this.#onGone = onGone
  }

  get tenant(): string {
    return this.#attachment.tenant
  }

  isIn(sandboxId: string): boolean {
    return this.#attachment.session.sandboxId === sandboxId
  }

  start(): void {
    for (let n = 0; n < READY_CONNECTIONS; n++) void this.#acceptUntilClosed()
  }

  replace(attachment: NetworkAttachment): void {
    this.#attachment = attachment
    this.#proxy.replace(attachment)
  }

  close(): void {
    this.#closing.abort()
    this.#proxy.close()
  }

  async #acceptUntilClosed(): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted;) {
      try {
        const stream = await this.#supervisor.acceptConnection(this.#attachment.session, signal)
        failures = 0
        if (signal.aborted) stream.destroy()
        else this.#proxy.serve(stream)
        // Above the rate of the tenant its programs wait in their own sandbox.
        const waitMs = this.#budget.accepted()
        if (waitMs > 0) await delay(waitMs)
      } catch (error) {
        if (signal.aborted) return
        const waitMs = error instanceof SupervisorError && error.code === 'wrong_sandbox' ? undefined : RETRY_MS[failures++]
        if (waitMs === undefined) return this.#onGone()
        await delay(waitMs)
      }
    }
  }
}
