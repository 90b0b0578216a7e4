import type { Container } from '../../core/containers/container.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { newSandbox, SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../core/sandboxes/new-sandbox.ts'
import { SUPERVISOR_PROTOCOL, type FailedStart, type Sandbox, type SandboxSession } from '../../core/sandboxes/sandbox.ts'
import { createLimitReader, type LimitReader } from '../../core/tenants/limit-reader.ts'
import { atConcurrencyLimit } from '../../core/sandboxes/concurrency-limit.ts'
import { detachSandbox } from '../../core/containers/detach-sandbox.ts'
import { sandboxLimitsOf, type SandboxLimits } from '../../core/tenants/tenant-limits.ts'
import type { RunDeps } from '../deps.ts'
import { createAfterClaim } from './refill-after-claim.ts'
import { createWarmCandidates } from './warm-candidates.ts'
import { awaitSupervisor, needsLook } from './await-supervisor.ts'

export type Acquired =
  | { readonly kind: 'live'; readonly session: SandboxSession; readonly container: Container }
  /** A sandbox is being started for this container; the place worker nudges the execution when it is ready. `failsSince`: starts before it failed. */
  | { readonly kind: 'starting'; readonly sandboxId: string; readonly failsSince?: number }
  /** The tenant has as many sandboxes as it may have: one has to go first. */
  | { readonly kind: 'full' }
  /** Starts have failed for too long. */
  | { readonly kind: 'failed' }
  /** The container was deleted, or another step changed it. */
  | { readonly kind: 'moved' }

const REMEMBERED = 1_000

export interface SandboxFinder {
  /** The session with the container's present sandbox; null when it has none that is live. */
  own(container: Container): Promise<SandboxSession | null>
  /** The same, if it may have code at once; null as long as nobody has seen its supervisor answer: then it has to be acquired. */
  ownAnswering(container: Container): Promise<SandboxSession | null>
  /** The container's own sandbox, else one claimed from the warm pool, else a start is asked for. A live one has answered. */
  acquire(container: Container, execution: Execution): Promise<Acquired>
  /** Stops a sandbox that does not answer and takes it from the container; null when the container moved on meanwhile. */
  abandon(container: Container): Promise<Container | null>
  /** Does what a claim for this execution left to be done; at the end of its step. */
  settle(executionId: string): Promise<void>
}

export function createSandboxFinder(
  deps: RunDeps,
  limitReader: LimitReader = createLimitReader(deps.table.tenants, deps.clock),
): SandboxFinder {
  const { table, queue, clock } = deps
  /** A claimed sandbox's address and keys never change, so the row of one that answers is read once. */
  const sessions = new Map<string, SandboxSession>()
  const candidates = createWarmCandidates(deps)
  const afterClaim = createAfterClaim(deps, candidates)

  function remember(session: SandboxSession): SandboxSession {
    if (sessions.size >= REMEMBERED) sessions.delete(sessions.keys().next().value ?? '')
    sessions.set(session.sandboxId, session)
    return session
  }

  async function find(container: Container): Promise<{ readonly session: SandboxSession; readonly hasAnswered: boolean } | null> {
    if (container.sandboxId === null) return null
    const known = sessions.get(container.sandboxId)
    if (known !== undefined) return { session: known, hasAnswered: true }
    const sandbox = await table.sandboxes.get(container.sandboxId)
    const session = sandbox === null ? null : sessionOf(sandbox)
    if (sandbox === null || session === null) return null
    const hasAnswered = !needsLook(sandbox, clock.now())
    return { session: hasAnswered ? remember(session) : session, hasAnswered }
  }

  const own = async (container: Container): Promise<SandboxSession | null> => (await find(container))?.session ?? null

  async function ownAnswering(container: Container): Promise<SandboxSession | null> {
    const found = await find(container)
    return found?.hasAnswered === true ? found.session : null
  }

  const give = (container: Container, sandboxId: string | null): Promise<Container | null> =>
    table.containers.setSandbox(container.tenant, container.id, container.generation, {
      sandboxId,
      stateLost: container.stateLost,
      dueAt: container.dueAt,
    })
  const takeAway = (container: Container, why: string): Promise<Container | null> =>
    detachSandbox(table.containers, container, why, { dueAt: container.dueAt })

  async function acquire(container: Container, execution: Execution): Promise<Acquired> {
    let present = container
    let failsSince: number | undefined
    if (present.sandboxId !== null) {
      const sandbox = await table.sandboxes.get(present.sandboxId)
      if (sandbox?.state === 'starting') return { kind: 'starting', sandboxId: sandbox.id }
      const claimed = sandbox === null ? 'gone' : await look(sandbox, present)
      if (typeof claimed === 'object') return claimed
      const neverRan = claimed === 'dead' || sandbox?.address === null
      if (claimed === 'dead')
        await queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: present.sandboxId }, { group: '_pool' })
      const failed = neverRan && sandbox !== null ? failedStart(sandbox, clock.now()) : null
      failsSince = execution.startsFailSince ?? failed?.from
      // By the platform's own time: how long anything stood in a queue, or waited for a step, says nothing of the platform.
      if (failed !== null && failed.to - (failsSince ?? failed.from) >= SANDBOX_START_MS) return { kind: 'failed' }
      const freed = neverRan ? await give(present, null) : await takeAway(present, 'The sandbox that held them has ended.')
      if (freed === null) return { kind: 'moved' }
      present = freed
    }
    const tenantLimits = await limitReader.of(present.tenant)
    if (await atConcurrencyLimit(table.sandboxes, present.tenant, tenantLimits)) return { kind: 'full' }
    const limits = sandboxLimitsOf(tenantLimits, present.limits)
    // Sandboxes of the pool are what everybody may have, so whoever has less or more waits for one of its own.
    const ready = limits === null ? ((await claimWarm(present, execution.id)) ?? (await reserveStarting(present))) : null
    const acquired = ready ?? (await askForStart(present, execution.id, limits))
    return acquired.kind === 'starting' && failsSince !== undefined ? { ...acquired, failsSince } : acquired
  }

  /** What a claimed sandbox is to its container: one that is yet to answer counts as starting. */
  async function look(sandbox: Sandbox, container: Container): Promise<Acquired | 'dead' | 'gone'> {
    const session = sessionOf(sandbox)
    if (session === null) return 'gone'
    if (!needsLook(sandbox, clock.now())) return { kind: 'live', session: remember(session), container }
    const sight = await awaitSupervisor(deps, sandbox)
    if (sight !== 'up') return sight === 'coming' ? { kind: 'starting', sandboxId: sandbox.id } : 'dead'
    await table.sandboxes.move(sandbox.id, ['claimed'], { answeredAt: clock.now() })
    return { kind: 'live', session: remember(session), container }
  }

  async function claimWarm(container: Container, executionId: string): Promise<Acquired | null> {
    for await (const candidate of candidates.of(container.memoryTier)) {
      const now = clock.now()
      const claimed = await table.sandboxes.claim(
        candidate,
        { tenant: container.tenant, containerId: container.id },
        now,
        now + SANDBOX_CHECK_MS,
      )
      if (claimed === null) continue
      afterClaim.begin(executionId, container.memoryTier)
      const owner = await give(container, candidate)
      if (owner !== null) {
        const found = await look(claimed, owner)
        // One that is dead is taken away by the next step, which finds it in the container.
        return typeof found === 'object' ? found : { kind: 'starting', sandboxId: claimed.id }
      }
      // Another step moved this container first: a claimed sandbox is never handed back.
      await queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: candidate }, { group: '_pool' })
      return { kind: 'moved' }
    }
    return null
  }

  /** A sandbox that already starts for the pool is ready sooner than one that has yet to be asked for. */
  async function reserveStarting(container: Container): Promise<Acquired | null> {
    const { tenant, id, memoryTier } = container
    for (const candidate of await table.sandboxes.all()) {
      const fits =
        candidate.state === 'starting' &&
        candidate.claimedBy === null &&
        candidate.memoryTier === memoryTier &&
        candidate.protocol === SUPERVISOR_PROTOCOL &&
        candidate.image === deps.image
      if (!fits || (await table.sandboxes.reserve(candidate.id, { tenant, containerId: id }, clock.now())) === null) continue
      void queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' }).catch(() => undefined)
      if ((await give(container, candidate.id)) !== null) return { kind: 'starting', sandboxId: candidate.id }
      await queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: candidate.id }, { group: '_pool' })
      return { kind: 'moved' }
    }
    return null
  }

  /** The row comes first and names the sandbox, so a repeated step finds it and asks for no second one. */
  async function askForStart(container: Container, executionId: string, limits: SandboxLimits | null): Promise<Acquired> {
    const { tenant, id, memoryTier } = container
    const sandbox = newSandbox({ memoryTier, limits, image: deps.image, claimedBy: { tenant, containerId: id } }, clock.now())
    await table.sandboxes.create(sandbox)
    if ((await give(container, sandbox.id)) === null) {
      await table.sandboxes.remove(sandbox.id)
      return { kind: 'moved' }
    }
    await queue.send(
      'placements',
      { v: 1, type: 'sandbox.place', tenant, sandboxId: sandbox.id, containerId: id, executionId },
      { group: tenant },
    )
    return { kind: 'starting', sandboxId: sandbox.id }
  }

  async function abandon(container: Container): Promise<Container | null> {
    if (container.sandboxId === null) return container
    sessions.delete(container.sandboxId)
    // Read anew: a step marks its snapshot as restored after it has read the container.
    const present = await table.containers.get(container.tenant, container.id)
    if (present === null || present.generation !== container.generation) return null
    await queue
      .send('placements', { v: 1, type: 'sandbox.stop', sandboxId: container.sandboxId }, { group: '_pool' })
      .catch(() => undefined)
    return takeAway(present, 'The sandbox that held them was lost.')
  }

  return { own, ownAnswering, acquire, abandon, settle: (executionId) => afterClaim.end(executionId) }
}

/** What is known of a start that came to nothing; one whose supervisor refused, or never answered, failed when somebody looked. */
function failedStart(sandbox: Sandbox, now: number): FailedStart | null {
  if (sandbox.readyAt !== null) return { from: sandbox.readyAt, to: now }
  return sandbox.failedStart ?? null
}

function sessionOf(sandbox: Sandbox): SandboxSession | null {
  if (sandbox.state !== 'claimed' || sandbox.address === null) return null
  return { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey }
}
