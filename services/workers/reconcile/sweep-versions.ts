import type { Container } from '../../model/containers/container.ts'
import type { ReconcilerDeps } from '../deps.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { LIMITS } from '../../model/limits.ts'
import { DAY_MS } from '../../model/tenants/retention.ts'

/**
 * When a version may be removed, epoch ms; null while it is kept. Results and replayed turns name versions, so a superseded version is kept as
 * long as an unused container, and a live link keeps its version longer. A deleted file or an unused upload is kept for a day, because a running
 * turn or a sandbox may have read the row before. `days`: the tenant's retention of containers.
 */
function retentionEndOf(file: ContainerFile, days: number = LIMITS.retentionDays): number | null {
  if (file.state === 'awaiting_upload') return file.createdAt + DAY_MS
  if (file.isCurrent || file.state === 'swept') return null
  return (file.endedAt ?? file.createdAt) + (file.state === 'deleted' ? 1 : days) * DAY_MS
}

/** Versions that one pass removes from one container; the next pass continues. */
const VERSIONS_PER_PASS = 200

/**
 * Removes file versions that nothing refers to, with their bytes: superseded and deleted ones, and unused uploads.
 * `days`: the tenant's retention of containers. Returns when the next version expires, epoch ms; null without one. Each removal may be repeated.
 */
export async function sweepVersions(
  deps: Pick<ReconcilerDeps, 'table' | 'objects' | 'clock'>,
  { tenant, id }: Pick<Container, 'tenant' | 'id'>,
  days: number,
): Promise<number | null> {
  const { files, links } = deps.table
  const now = deps.clock.now()
  let next: number | null = null
  let swept = 0
  const sweepAgainAt = (at: number): void => {
    next = next === null ? at : Math.min(next, at)
  }
  for (const file of await files.all(tenant, id)) {
    const until = retentionEndOf(file, days)
    if (until === null) continue
    if (until > now) {
      sweepAgainAt(until)
      continue
    }
    if (swept === VERSIONS_PER_PASS) return now
    const linkedUntil = file.state === 'stored' ? await lastLinkEnd(links, file, now) : 0
    if (linkedUntil > now) {
      sweepAgainAt(linkedUntil)
      continue
    }
    // An upload URL may have been used after its file was deleted, so the bytes go in any case.
    await deps.objects.delete(file.objectKey)
    if (file.isBrought === true && file.state === 'stored') await files.patch({ tenant, containerId: id, id: file.id }, { state: 'swept' })
    else await files.remove(tenant, id, file.id)
    swept += 1
  }
  return next
}

async function lastLinkEnd(links: ReconcilerDeps['table']['links'], { tenant, id }: ContainerFile, now: number): Promise<number> {
  const live = (await links.ofFile(tenant, id)).filter((link) => link.revokedAt === null && link.expiresAt > now)
  return Math.max(0, ...live.map((link) => link.expiresAt))
}
