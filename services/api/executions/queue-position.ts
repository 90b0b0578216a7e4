import type { Execution } from '../../core/executions/execution.ts'
import type { ContainerStore } from '../../core/ports/container-store.ts'

/** How many executions of the container come first; null unless it is queued. */
export async function queuePosition(containers: Pick<ContainerStore, 'get'>, row: Execution): Promise<number | null> {
  if (row.status !== 'queued') return null
  const position = (await containers.get(row.tenant, row.containerId))?.queue.indexOf(row.id) ?? -1
  return position === -1 ? null : position
}
