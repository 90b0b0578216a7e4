import type { Execution, ExecutionResult, ExecutionUsage } from '../../model/executions/execution.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { UsageStore } from '../../ports/usage-store.ts'
import { readBytes } from '../../model/read-bytes.ts'
import { dayOf } from '../../model/usage/usage.ts'

/**
 * Stores the usage of an ended execution before it leaves its container's queue, so that the reconciler finds it there after a crash. A repetition
 * writes the same record under the same id, so each execution counts once.
 */
export async function recordUsage(
  ports: { readonly table: { readonly usage: UsageStore }; readonly objects: ObjectStore },
  ended: Execution,
  known: ExecutionUsage | null = null,
): Promise<void> {
  const usage = known ?? (await usageOf(ports.objects, ended))
  if (usage === null) return
  const { tenant, subject, id: executionId, createdAt } = ended
  const { cpuMs, sandboxCpuMs = cpuMs, peakMemoryBytes, outputBytes } = usage
  await ports.table.usage.put({
    v: 1,
    tenant,
    subject,
    executionId,
    day: dayOf(createdAt),
    // The record of its sandbox has them (meter-sandbox.ts).
    sandboxSeconds: 0,
    costUsd: 0,
    cpuMs: sandboxCpuMs,
    peakMemoryBytes,
    outputBytes,
  })
}

/** Null when the result is missing: that must not block the container's queue. */
async function usageOf(objects: ObjectStore, { result, resultRef }: Execution): Promise<ExecutionUsage | null> {
  if (result !== null) return result.usage
  const found = resultRef === null ? null : await objects.get(resultRef.objectKey)
  return found === null ? null : (JSON.parse((await readBytes(found.body)).toString('utf8')) as ExecutionResult).usage
}
