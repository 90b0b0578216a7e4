import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { HibernateMessage } from '../../model/messages.ts'
import type { Table } from '../../ports/table.ts'

const AT_ONCE = 4

/**
 * Hibernates every idle container, so that its variables outlive its sandbox. Resolves when all are saved or the time is over. Variables that
 * are not saved by then are lost with the sandbox, and the next execution reports it. Containers with a running execution are skipped.
 */
export async function saveAll(
  deps: { readonly table: Pick<Table, 'sandboxes' | 'containers'>; readonly hibernate: (message: HibernateMessage) => Promise<void> },
  limitMs: number,
): Promise<void> {
  if (limitMs === 0) return
  const slots = pLimit(AT_ONCE)
  const over = new AbortController()
  const saveOne = async (tenant: string, containerId: string, sandboxId: string): Promise<void> => {
    if (over.signal.aborted) return
    const container = await deps.table.containers.get(tenant, containerId)
    if (container?.sandboxId !== sandboxId || container.queue.length > 0) return
    await deps.hibernate({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince: container.lastActiveAt })
  }
  const all = deps.table.sandboxes
    .all()
    .then((sandboxes) =>
      Promise.allSettled(
        sandboxes.map(({ id, claimedBy }) =>
          claimedBy === null ? null : slots(() => saveOne(claimedBy.tenant, claimedBy.containerId, id)),
        ),
      ),
    )
  await Promise.race([all.catch(() => undefined), delay(limitMs, undefined, { signal: over.signal }).catch(() => undefined)])
  over.abort()
}
