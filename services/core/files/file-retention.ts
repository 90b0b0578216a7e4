import type { ContainerFile } from './file.ts'
import { LIMITS } from '../limits.ts'

const DAY_MS = 86_400_000

/**
 * When a version may be taken away, epoch ms; null while it stays. An execution's result cites the versions that it made, and a turn that is
 * replayed the ones that it was given: a superseded one keeps as long as a container that nobody uses, a live link keeps its version beyond
 * that. What was deleted or never came keeps a day: a turn that goes on, and a sandbox that is told of the change, have read the row before.
 */
export function retentionEndOf(file: ContainerFile): number | null {
  if (file.state === 'awaiting_upload') return file.createdAt + DAY_MS
  if (file.isCurrent || file.state === 'swept') return null
  return (file.endedAt ?? file.createdAt) + (file.state === 'deleted' ? 1 : LIMITS.retentionDays) * DAY_MS
}
