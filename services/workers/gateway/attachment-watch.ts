import type { Container } from '../../model/containers/container.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { AttachedContainer } from '../../ports/attachment-store.ts'
import type { NetworkAttachment } from '../../ports/network-gateway.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import type { Table } from '../../ports/table.ts'
import type { Gateway } from './gateway.ts'

export interface WatchParts {
  readonly table: Pick<Table, 'attachments' | 'containers' | 'sandboxes'>
  readonly supervisor: Pick<Supervisor, 'openNetwork'>
  readonly gateway: Pick<Gateway, 'attach' | 'detach'>
  /** The public part of the authority, PEM. */
  readonly certificate: string
  /** What the rows of a container demand now; null: no network. */
  attachmentOf(container: Container, session: SandboxSession): Promise<NetworkAttachment | null>
}

interface Known {
  /** The latest request. */
  version: string
  /** Whose listener is open; null: none. */
  sandboxId: string | null
  /** Requests of a container are dealt with one after the other, so that an older policy never replaces a newer one. */
  work: Promise<void>
}

/**
 * Makes the gateway serve what the table requests. Requests are rows that stay while their containers are served, so a new process begins with all of
 * them, and a row that is gone ends its container's connections.
 */
export class AttachmentWatch {
  readonly #parts: WatchParts
  readonly #known = new Map<string, Known>()

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  /** Compares once. Requests of different containers do not wait for each other: `settled` resolves when those of this pass have their answers. */
  async pass(): Promise<{ readonly settled: Promise<unknown> }> {
    const rows = await this.#parts.table.attachments.list()
    const wanted = new Set(rows.map(({ containerId }) => containerId))
    for (const containerId of this.#known.keys()) if (!wanted.has(containerId)) this.#forget(containerId)
    const requests = rows.filter(({ containerId, version }) => this.#known.get(containerId)?.version !== version)
    return { settled: Promise.all(requests.map((row) => this.#answer(row))) }
  }

  /** The sandbox of a container no longer answers. A request that came meanwhile stays. */
  async onGone(containerId: string): Promise<void> {
    const { attachments } = this.#parts.table
    const known = this.#known.get(containerId)
    this.#known.delete(containerId)
    if ((await attachments.get(containerId))?.version === known?.version) await attachments.remove(containerId)
  }

  #forget(containerId: string): void {
    this.#known.delete(containerId)
    this.#parts.gateway.detach(containerId)
  }

  #answer(row: AttachedContainer): Promise<void> {
    const { containerId, version } = row
    const known = this.#known.get(containerId) ?? { version, sandboxId: null, work: Promise.resolve() }
    this.#known.set(containerId, known)
    known.version = version
    known.work = known.work.then(async () => {
      if (this.#isLatest(row, known)) await this.#serve(row, known)
    })
    return known.work
  }

  /** False when a later request replaced it, or the container was forgotten. */
  #isLatest({ containerId, version }: AttachedContainer, known: Known): boolean {
    return known.version === version && this.#known.get(containerId) === known
  }

  async #serve(row: AttachedContainer, known: Known): Promise<void> {
    const { containerId, version } = row
    let problem: string | null = null
    try {
      await this.#enforce(row, known)
    } catch (error) {
      // Without the rows of its policy nothing may pass.
      this.#parts.gateway.detach(containerId)
      problem = error instanceof Error ? error.message : String(error)
    }
    await this.#parts.table.attachments.settle(containerId, { version, problem }).catch(() => {
      // The next pass answers it again.
      if (this.#isLatest(row, known)) this.#known.delete(containerId)
    })
  }

  async #enforce(row: AttachedContainer, known: Known): Promise<void> {
    const { tenant, containerId, sandboxId } = row
    const { table, supervisor, gateway, certificate } = this.#parts
    const [container, sandbox] = await Promise.all([table.containers.get(tenant, containerId), table.sandboxes.get(sandboxId)])
    if (sandbox === null || sandbox.address === null || sandbox.claimedBy?.containerId !== containerId)
      throw new Error('The sandbox of the container was released meanwhile. Run the code again.')
    const session = { sandboxId, address: sandbox.address, privateKey: sandbox.privateKey }
    const attachment = container === null ? null : await this.#parts.attachmentOf(container, session)
    if (attachment === null) return gateway.detach(containerId)
    if (known.sandboxId !== sandboxId) await supervisor.openNetwork(session, certificate)
    known.sandboxId = sandboxId
    if (this.#isLatest(row, known)) gateway.attach(attachment)
  }
}
