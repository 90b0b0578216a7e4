import type { ContainerFile } from './file.ts'
import { LIMITS } from '../limits.ts'
import { DAY_MS } from '../tenants/retention.ts'

/**
 * When a version may be removed, epoch ms; null while it is kept. Results and replayed turns name versions, so a superseded version is kept as
 * long as an unused container, and a live link keeps its version longer. A deleted file or an unused upload is kept for a day, because a running
 * turn or a sandbox may have read the row before. `days`: the tenant's retention of containers.
 */
export function retentionEndOf(file: ContainerFile, days: number = LIMITS.retentionDays): number | null {
  if (file.state === 'awaiting_upload') return file.createdAt + DAY_MS
  if (file.isCurrent || file.state === 'swept') return null
  return (file.endedAt ?? file.createdAt) + (file.state === 'deleted' ? 1 : days) * DAY_MS
}
