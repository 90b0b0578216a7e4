import { positionTime } from '../../model/conversations/conversation.ts'
import { hasLiveResponse } from '../../operations/turns/conversation-queue.ts'
import { objectPrefix } from '../../model/object-keys.ts'
import { latestVersion } from '../../model/skills/skill.ts'
import type { DueRow } from '../../ports/table.ts'
import { DAY_MS, nextRetentionCheck } from '../../model/tenants/retention.ts'
import type { RepairDeps } from '../deps.ts'

type Deps = Pick<RepairDeps, 'table' | 'objects' | 'clock' | 'limits'>

/** Turns that read a conversation before its deletion have ended after this time, milliseconds. */
const DELETION_MS = 3_600_000

/** Removes a file whose expiry or retention has passed: bytes before the row. */
export async function sweepFile({ table, objects, clock, limits }: Deps, due: DueRow): Promise<void> {
  const { tenant, id } = due
  const row = await table.userFiles.get(tenant, id)
  const { fileDays } = await limits.of(tenant)
  const end = row === null ? 0 : Math.min(row.expiresAt ?? Infinity, row.createdAt + fileDays * DAY_MS)
  const now = clock.now()
  if (end > now) return table.postpone(due, nextRetentionCheck(now, end))
  await objects.deletePrefix(objectPrefix(tenant, id))
  await table.userFiles.remove(tenant, id)
}

/** Removes a skill whose retention has passed: the row first, so that no version is added to it. Containers have copies. */
export async function sweepSkill({ table, objects, clock, limits }: Deps, due: DueRow): Promise<void> {
  const { tenant, id } = due
  const row = await table.skills.get(tenant, id)
  const { skillDays } = await limits.of(tenant)
  const end = row === null ? 0 : latestVersion(row).createdAt + skillDays * DAY_MS
  const now = clock.now()
  if (end > now) return table.postpone(due, nextRetentionCheck(now, end))
  await table.skills.remove(tenant, id)
  await objects.deletePrefix(objectPrefix(tenant, id))
}

/** Removes the parts of a completed, cancelled or abandoned upload; a completed file has separate bytes. */
export async function sweepUpload(deps: Pick<Deps, 'table' | 'objects'>, { tenant, id }: DueRow): Promise<void> {
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await deps.table.uploads.remove(tenant, id)
}

/** Removes a conversation that was deleted when no turn can add to it any more, and deletes one whose retention has passed. */
export async function sweepConversation({ table, clock, limits }: Deps, due: DueRow): Promise<void> {
  const { tenant, id } = due
  const row = await table.conversations.get(tenant, id)
  const now = clock.now()
  if (row !== null && row.deletedAt === null) {
    const { conversationDays } = await limits.of(tenant)
    const [newest] = (await table.conversations.items(tenant, id, { after: null, limit: 1, order: 'desc' })).rows
    const usedAt = Math.max(row.createdAt, newest === undefined ? 0 : positionTime(newest.position))
    const end = usedAt + conversationDays * DAY_MS
    if (await hasLiveResponse(table, row)) return table.postpone(due, now + DAY_MS)
    if (end > now) return table.postpone(due, nextRetentionCheck(now, end))
    await table.conversations.markDeleted(tenant, id, { now, dueAt: now + DELETION_MS })
    return
  }
  await table.conversations.removeItems(tenant, id)
  await table.conversations.remove(tenant, id)
}
