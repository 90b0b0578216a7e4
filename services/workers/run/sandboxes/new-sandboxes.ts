import type { Container } from '../../../model/containers/container.ts'
import type { ImageCatalogue } from '../../../model/containers/images.ts'
import { newSandbox, SANDBOX_CHECK_MS } from '../../../operations/sandboxes/new-sandbox.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../../model/sandboxes/sandbox.ts'
import type { SandboxLimits } from '../../../model/tenants/tenant-limits.ts'
import type { RunDeps } from '../../deps.ts'
import type { WarmCandidates } from './warm-candidates.ts'

type Deps = Pick<RunDeps, 'table' | 'queue' | 'clock'>

/** The image that a container gets, by `ImageCatalogue.resolve`. */
export type SandboxImage = ReturnType<ImageCatalogue['resolve']>

type Requested = { readonly kind: 'starting'; readonly sandboxId: string } | { readonly kind: 'moved' }

/** Names a sandbox in the container's row; null when another step changed the container. */
export const attachSandbox = ({ table }: Pick<Deps, 'table'>, container: Container, sandboxId: string | null): Promise<Container | null> =>
  table.containers.setSandbox(container.tenant, container.id, {
    generation: container.generation,
    sandboxId,
    stateLost: container.stateLost,
    dueAt: container.dueAt,
  })

export const requestStop = ({ queue }: Pick<Deps, 'queue'>, sandboxId: string): Promise<void> =>
  queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId }, { group: '_pool' })

/** Claims a sandbox of the warm pool. Null when none is ready. A claimed sandbox is never returned to the pool. */
export async function claimWarmSandbox(
  deps: Deps & { readonly candidates: WarmCandidates },
  container: Container,
  image: SandboxImage,
): Promise<{ readonly kind: 'claimed'; readonly sandbox: Sandbox; readonly container: Container } | { readonly kind: 'moved' } | null> {
  for await (const id of deps.candidates.of({ tier: container.memoryTier, image: image.reference })) {
    const now = deps.clock.now()
    const owner = { tenant: container.tenant, containerId: container.id }
    const sandbox = await deps.table.sandboxes.claim(id, owner, { now, dueAt: now + SANDBOX_CHECK_MS })
    if (sandbox === null) continue
    const attached = await attachSandbox(deps, container, id)
    if (attached !== null) return { kind: 'claimed', sandbox, container: attached }
    await requestStop(deps, id)
    return { kind: 'moved' }
  }
  return null
}

/** Rows that one search for a starting sandbox reads. Several workers may try the same first ones. */
const MAX_STARTING = 25

/** Reserves a sandbox that already starts for the pool: it is ready sooner than a new one. Null when none starts. */
export async function reserveStartingSandbox(deps: Deps, container: Container, image: SandboxImage): Promise<Requested | null> {
  const { tenant, id, memoryTier } = container
  for (const candidate of await deps.table.sandboxes.starting(memoryTier, MAX_STARTING)) {
    const isUsable =
      candidate.state === 'starting' &&
      candidate.claimedBy === null &&
      candidate.memoryTier === memoryTier &&
      candidate.protocol === SUPERVISOR_PROTOCOL &&
      candidate.image === image.reference
    if (!isUsable) continue
    if ((await deps.table.sandboxes.reserve(candidate.id, { tenant, containerId: id }, deps.clock.now())) === null) continue
    await deps.queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' }).catch(() => undefined)
    if ((await attachSandbox(deps, container, candidate.id)) !== null) return { kind: 'starting', sandboxId: candidate.id }
    await requestStop(deps, candidate.id)
    return { kind: 'moved' }
  }
  return null
}

/** Requests a start. The row is written first and names the sandbox, so a repeated step finds it and requests no second one. */
export async function requestSandbox(
  deps: Deps,
  container: Container,
  { executionId, limits, image }: { readonly executionId: string; readonly limits: SandboxLimits | null; readonly image: SandboxImage },
): Promise<Requested> {
  const { tenant, id, memoryTier } = container
  const sandbox = newSandbox(
    { memoryTier, limits, image: image.reference, imageName: image.name, claimedBy: { tenant, containerId: id } },
    deps.clock.now(),
  )
  await deps.table.sandboxes.create(sandbox)
  if ((await attachSandbox(deps, container, sandbox.id)) === null) {
    await deps.table.sandboxes.remove(sandbox.id)
    return { kind: 'moved' }
  }
  const message = { v: 1, type: 'sandbox.place', tenant, sandboxId: sandbox.id, containerId: id, executionId } as const
  await deps.queue.send('placements', message, { group: tenant })
  return { kind: 'starting', sandboxId: sandbox.id }
}
