import type { Execution, ExecutionUsage } from './execution.ts'
import { loadResult } from './load-result.ts'
import type { ObjectStore } from './ports/object-store.ts'
import type { UsageStore } from './ports/table.ts'
import { dayOf } from './usage.ts'

/**
 * Writes down what an ended execution used. Done before it leaves the queue of its container, where the reconciler finds it when a worker
 * died in between; repeating it writes the same under the same id, so each execution counts once.
 */
export async function recordUsage(
  ports: { readonly table: { readonly usage: UsageStore }; readonly objects: ObjectStore },
  ended: Execution,
  known: ExecutionUsage | null = null,
): Promise<void> {
  const usage = known ?? (await loadResult(ports.objects, ended))?.usage
  if (usage === undefined) return
  const { tenant, subject, id: executionId, createdAt } = ended
  const { sandboxSeconds, cpuMs, peakMemoryBytes, outputBytes, costUsd } = usage
  await ports.table.usage.put({
    v: 1,
    tenant,
    subject,
    executionId,
    day: dayOf(createdAt),
    sandboxSeconds,
    cpuMs,
    peakMemoryBytes,
    outputBytes,
    costUsd,
  })
}
