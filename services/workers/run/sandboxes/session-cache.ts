import { BoundedCache } from '../../../model/bounded-cache.ts'
import type { Container } from '../../../model/containers/container.ts'
import type { Sandbox, SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'
import { needsHealthCheck } from './await-supervisor.ts'

const MAX_SESSIONS = 1_000

/** Sessions with claimed sandboxes. Address and keys of one never change, so the row of a sandbox that answers is read once. */
export class SessionCache {
  readonly #deps: Pick<RunDeps, 'table' | 'clock'>
  readonly #sessions = new BoundedCache<string, SandboxSession>(MAX_SESSIONS)

  constructor(deps: Pick<RunDeps, 'table' | 'clock'>) {
    this.#deps = deps
  }

  add(session: SandboxSession): SandboxSession {
    this.#sessions.set(session.sandboxId, session)
    return session
  }

  remove(sandboxId: string): void {
    this.#sessions.delete(sandboxId)
  }

  /** Null when the container has no claimed sandbox. `hasAnswered`: it may have code at once. */
  async find({ sandboxId }: Container): Promise<{ readonly session: SandboxSession; readonly hasAnswered: boolean } | null> {
    if (sandboxId === null) return null
    const known = this.#sessions.get(sandboxId)
    if (known !== undefined) return { session: known, hasAnswered: true }
    const sandbox = await this.#deps.table.sandboxes.get(sandboxId)
    const session = sandbox === null ? null : sessionOf(sandbox)
    if (sandbox === null || session === null) return null
    const hasAnswered = !needsHealthCheck(sandbox, this.#deps.clock.now())
    return { session: hasAnswered ? this.add(session) : session, hasAnswered }
  }
}

export function sessionOf(sandbox: Sandbox): SandboxSession | null {
  if (sandbox.state !== 'claimed' || sandbox.address === null) return null
  return { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey }
}
