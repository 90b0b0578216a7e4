import { isSuspended, type Container } from '../../../model/containers/container.ts'
import { detachSandbox } from '../../../operations/containers/detach-sandbox.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { noteResumed } from '../../../operations/sandboxes/note-resumed.ts'
import { requestResume } from '../../../operations/sandboxes/request-resume.ts'
import { SANDBOX_START_MS } from '../../../operations/sandboxes/new-sandbox.ts'
import { isPausedState, type FailedStart, type Sandbox, type SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { createLimitReader, type LimitReader } from '../../../operations/tenancy/limit-reader.ts'
import type { ResourceCount } from '../../../operations/tenancy/resource-count.ts'
import { createResourceCounts } from '../../../operations/tenancy/resource-counts.ts'
import { sandboxLimitsOf } from '../../../model/tenants/tenant-limits.ts'
import type { RunDeps } from '../../deps.ts'
import { failUnanswered } from '../../place/fail-unanswered.ts'
import { awaitSupervisor, needsHealthCheck } from './await-supervisor.ts'
import { attachSandbox, claimWarmSandbox, requestSandbox, requestStop, reserveStartingSandbox, type SandboxImage } from './new-sandboxes.ts'
import { hibernateLargest } from './hibernate-largest.ts'
import { SessionCache, sessionOf } from './session-cache.ts'
import { WarmCandidates, type WarmKind } from './warm-candidates.ts'

/** Delay of a refill after a claim, milliseconds. A refill uses seconds of processor time, and the claimed sandbox's code must start first. */
const REFILL_DELAY_MS = 50

/** Refills the pool after a claim and prefetches candidates for the next one: after a delay, or when the step of the claim ends before. */
class RefillAfterClaim {
  readonly #queue: RunDeps['queue']
  readonly #candidates: WarmCandidates
  readonly #waiting = new Map<string, () => Promise<void>>()

  constructor({ queue }: Pick<RunDeps, 'queue'>, candidates: WarmCandidates) {
    this.#queue = queue
    this.#candidates = candidates
  }

  schedule(executionId: string, kind: WarmKind): void {
    const refill = async (): Promise<void> => {
      clearTimeout(timer)
      this.#waiting.delete(executionId)
      await Promise.all([
        this.#queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' }).catch(() => undefined),
        this.#candidates.prefetch(kind),
      ])
    }
    const timer = setTimeout(() => void refill(), REFILL_DELAY_MS)
    this.#waiting.set(executionId, refill)
  }

  /** Resolves when what was scheduled for this execution is done. Never rejects: the reconciler refills too. */
  async finish(executionId: string): Promise<void> {
    await this.#waiting.get(executionId)?.()
  }
}

export type Acquired =
  | { readonly kind: 'live'; readonly session: SandboxSession; readonly container: Container }
  /** A sandbox starts for this container; the place worker enqueues the execution when it is ready. `failsSince`: earlier starts failed. */
  | { readonly kind: 'starting'; readonly sandboxId: string; readonly failsSince?: number }
  /** The tenant has as many sandboxes as its limit allows, or the machine has no capacity for another: one has to stop first. `isFreeing`: one hibernates. */
  | { readonly kind: 'full'; readonly isFreeing?: boolean }
  /** Starts have failed for too long; `check`: the isolation check that the last sandbox failed. */
  | { readonly kind: 'failed'; readonly check?: string }
  /** The container was deleted, or another step changed it. */
  | { readonly kind: 'moved' }

/** State of the container's present sandbox for the next execution. */
type Present =
  | Extract<Acquired, { readonly kind: 'live' | 'starting' | 'full' | 'failed' | 'moved' }>
  | { readonly kind: 'none'; readonly container: Container; readonly failsSince?: number }

/** Finds the sandbox of a container, or acquires a new one. */
export class SandboxFinder {
  readonly #deps: RunDeps
  readonly #limits: LimitReader
  readonly #live: ResourceCount
  readonly #sessions: SessionCache
  readonly #candidates: WarmCandidates
  readonly #refills: RefillAfterClaim

  constructor(
    deps: RunDeps,
    limits: LimitReader = createLimitReader(deps.table.tenants, deps.clock),
    live: ResourceCount = createResourceCounts({ ...deps, limits }).liveContainers,
  ) {
    this.#deps = deps
    this.#limits = limits
    this.#live = live
    this.#sessions = new SessionCache(deps)
    this.#candidates = new WarmCandidates(deps)
    this.#refills = new RefillAfterClaim(deps, this.#candidates)
  }

  /** The session with the container's present sandbox; null without a claimed one. */
  async own(container: Container): Promise<SandboxSession | null> {
    return (await this.#sessions.find(container))?.session ?? null
  }

  /** The same, if the supervisor has answered and code can be sent at once; otherwise null, and `acquire` is needed. */
  async ownAnswering(container: Container): Promise<SandboxSession | null> {
    if (isSuspended(container)) return null
    const found = await this.#sessions.find(container)
    return found?.hasAnswered === true ? found.session : null
  }

  /** The container's sandbox, for work that it has already: `paused` while it is suspended, or about to be. Null: it is gone. */
  async holding(container: Container): Promise<{ readonly session: SandboxSession; readonly container: Container } | 'paused' | null> {
    const { table } = this.#deps
    if (container.sandboxId === null) return null
    if (!isSuspended(container)) {
      const session = await this.own(container)
      if (session !== null) return { session, container }
    }
    const sandbox = await table.sandboxes.get(container.sandboxId)
    if (sandbox !== null && isPausedState(sandbox)) return 'paused'
    const session = sandbox === null ? null : sessionOf(sandbox)
    const present = session === null ? null : await noteResumed(table, container)
    return session === null || present === null ? null : { session: this.#sessions.add(session), container: present }
  }

  /** Requests that a suspended sandbox continues, if the limits of the account and the memory of the machine allow it. */
  async wake(container: Container): Promise<void> {
    const sandbox = container.sandboxId === null ? null : await this.#deps.table.sandboxes.get(container.sandboxId)
    if (sandbox?.state === 'suspended') await this.#resume(container, sandbox)
  }

  /** The container's own sandbox, else one claimed from the warm pool, else a start is requested. A live one has answered. */
  async acquire(container: Container, execution: Execution): Promise<Acquired> {
    const present = await this.#present(container, execution)
    if (present.kind !== 'none') return present
    if (!(await this.#live.take(container.tenant))) return { kind: 'full' }
    const tenantLimits = await this.#limits.of(container.tenant)
    const limits = sandboxLimitsOf(tenantLimits, container.limits)
    // Sandboxes of the pool have the default limits; a container with others gets its own sandbox.
    const image = await this.#imageOf(present.container)
    const fromPool = limits === null ? await this.#fromPool(present.container, execution.id, image) : null
    if (fromPool === null && (await this.#deps.admission?.admits(container.memoryTier, 'execution')) === false)
      return { kind: 'full', isFreeing: await hibernateLargest(this.#deps, container.tenant) }
    const acquired = fromPool ?? (await requestSandbox(this.#deps, present.container, { executionId: execution.id, limits, image }))
    const { failsSince } = present
    return acquired.kind === 'starting' && failsSince !== undefined ? { ...acquired, failsSince } : acquired
  }

  /** Stops a sandbox that does not answer and detaches it; null when another step changed the container. */
  async abandon(container: Container): Promise<Container | null> {
    const { table } = this.#deps
    if (container.sandboxId === null) return container
    this.#sessions.remove(container.sandboxId)
    // Read again: a step marks its snapshot as restored after it has read the container.
    const present = await table.containers.get(container.tenant, container.id)
    if (present === null || present.generation !== container.generation) return null
    await requestStop(this.#deps, container.sandboxId).catch(() => undefined)
    return detachSandbox(table.containers, present, { why: 'The sandbox that held them was lost.', dueAt: present.dueAt })
  }

  /** Completes the refill that a claim for this execution scheduled; called at the end of its step. */
  finishClaim(executionId: string): Promise<void> {
    return this.#refills.finish(executionId)
  }

  /** The container's sandbox if it is usable, otherwise the container without a sandbox. */
  async #present(container: Container, execution: Execution): Promise<Present> {
    const { table, clock } = this.#deps
    if (container.sandboxId === null) return { kind: 'none', container }
    let sandbox = await table.sandboxes.get(container.sandboxId)
    if (sandbox?.state === 'starting' || sandbox?.state === 'suspending') return { kind: 'starting', sandboxId: sandbox.id }
    if (sandbox?.state === 'suspended') return this.#resume(container, sandbox)
    const checked = sandbox === null ? 'gone' : await this.#check(sandbox, container)
    if (typeof checked === 'object') return checked.kind === 'live' ? this.#noteResumed(checked) : checked
    if (checked === 'refused') sandbox = await table.sandboxes.get(container.sandboxId)
    const neverRan = checked === 'dead' || sandbox?.address === null || sandbox?.failedStart !== undefined
    if (checked !== 'gone') await requestStop(this.#deps, container.sandboxId)
    const failed = neverRan && sandbox !== null ? failedStart(sandbox, clock.now()) : null
    const failsSince = execution.startsFailSince ?? failed?.from
    // Only the platform's start time counts, not the time that messages spent in queues.
    if (failed !== null && failed.to - (failsSince ?? failed.from) >= SANDBOX_START_MS)
      return { kind: 'failed', ...(failed.check === undefined ? {} : { check: failed.check }) }
    const detached =
      neverRan && !isSuspended(container)
        ? await attachSandbox(this.#deps, container, null)
        : await detachSandbox(table.containers, container, { why: 'The sandbox that held them has ended.', dueAt: container.dueAt })
    if (detached === null) return { kind: 'moved' }
    return { kind: 'none', container: detached, ...(failsSince !== undefined && { failsSince }) }
  }

  async #resume(container: Container, sandbox: Sandbox): Promise<Present> {
    if (!(await this.#live.take(container.tenant))) return { kind: 'full' }
    if ((await this.#deps.admission?.admits(container.memoryTier, 'execution')) === false)
      return { kind: 'full', isFreeing: await hibernateLargest(this.#deps, container.tenant) }
    const isRequested = await requestResume(this.#deps, container.tenant, sandbox.id)
    return isRequested ? { kind: 'starting', sandboxId: sandbox.id } : { kind: 'moved' }
  }

  async #noteResumed(live: Extract<Acquired, { readonly kind: 'live' }>): Promise<Present> {
    const container = await noteResumed(this.#deps.table, live.container)
    return container === null ? { kind: 'moved' } : { ...live, container }
  }

  async #imageOf(container: Container): Promise<SandboxImage> {
    const policy = container.image === null ? await this.#limits.policyOf(container.tenant) : null
    return this.#deps.images.resolve(container.image, policy?.image)
  }

  async #fromPool(container: Container, executionId: string, image: SandboxImage): Promise<Acquired | null> {
    const claim = await claimWarmSandbox({ ...this.#deps, candidates: this.#candidates }, container, image)
    if (claim === null) return reserveStartingSandbox(this.#deps, container, image)
    this.#refills.schedule(executionId, { tier: container.memoryTier, image: image.reference })
    if (claim.kind === 'moved') return claim
    const checked = await this.#check(claim.sandbox, claim.container)
    // The next step finds a dead sandbox in the container and detaches it.
    return typeof checked === 'object' ? checked : { kind: 'starting', sandboxId: claim.sandbox.id }
  }

  /** A claimed sandbox whose supervisor has not answered yet counts as starting. */
  async #check(
    sandbox: Sandbox,
    container: Container,
  ): Promise<Extract<Acquired, { kind: 'live' | 'starting' }> | 'dead' | 'refused' | 'gone'> {
    const { table, clock } = this.#deps
    const session = sessionOf(sandbox)
    if (session === null) return 'gone'
    if (!needsHealthCheck(sandbox, clock.now())) return { kind: 'live', session: this.#sessions.add(session), container }
    const health = await awaitSupervisor(this.#deps, sandbox)
    if (typeof health === 'object') {
      const refusal = { check: health.refused, exitCode: null, detail: null }
      await failUnanswered(this.#deps, sandbox, { reason: 'refused', refusal })
      return 'refused'
    }
    if (health !== 'up') return health === 'starting' ? { kind: 'starting', sandboxId: sandbox.id } : 'dead'
    await table.sandboxes.move(sandbox.id, { from: ['claimed'] }, { answeredAt: clock.now() })
    return { kind: 'live', session: this.#sessions.add(session), container }
  }
}

/** The times of a failed start. A sandbox whose supervisor refused or never answered failed when it was checked. */
function failedStart(sandbox: Sandbox, now: number): FailedStart | null {
  return sandbox.failedStart ?? (sandbox.readyAt === null ? null : { from: sandbox.readyAt, to: now })
}
