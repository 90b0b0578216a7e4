import type { Container } from '../../model/containers/container.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { ALL_WORK_KINDS, workKindOfId, type WorkKindName } from '../../model/executions/work-kinds.ts'
import { objectPrefix } from '../../model/object-keys.ts'
import { DAY_MS } from '../../model/tenants/retention.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** Executions that one pass removes from one container; the next pass continues. */
const PER_PASS = 100
/** Objects with separate rows and a separate retention. */
const KEPT_KINDS: readonly string[] = ['files', 'snapshots']

type Deps = Pick<ReconcilerDeps, 'table' | 'objects' | 'clock'>

/**
 * Removes executions and commands whose retention of `days` has ended, with their events and objects. Returns when the next one expires, epoch ms; null
 * without one. Each removal may be repeated.
 */
export async function sweepExecutions(deps: Deps, container: Pick<Container, 'tenant' | 'id'>, days: number): Promise<number | null> {
  let next = Infinity
  for (const { name } of ALL_WORK_KINDS) next = Math.min(next, (await sweepList(deps, container, { kind: name, days })) ?? Infinity)
  return Number.isFinite(next) ? next : null
}

async function sweepList(
  deps: Deps,
  { tenant, id }: Pick<Container, 'tenant' | 'id'>,
  { kind, days }: { readonly kind: WorkKindName; readonly days: number },
): Promise<number | null> {
  const now = deps.clock.now()
  // Oldest first, so the rows after one that is kept are kept as well.
  const { rows, hasMore } = await deps.table.executions.listByContainer(tenant, id, { kind, after: null, limit: PER_PASS, order: 'asc' })
  for (const row of rows) {
    if (!hasEnded(row.status)) return null
    const end = (row.endedAt ?? row.createdAt) + days * DAY_MS
    if (end > now) return end
    await removeExecution(deps, row)
  }
  return hasMore ? now : null
}

/** The row last: a repetition finds the remaining keys in it. */
async function removeExecution({ table, objects }: Deps, row: Execution): Promise<void> {
  const { tenant, containerId } = row
  const isGone = row.resultRef !== null && (await objects.head(row.resultRef.objectKey)) === null
  const result = isGone ? null : await loadResult(objects, row)
  const prefix = objectPrefix(tenant, containerId)
  const keys = keysIn([row.source, result]).filter((key) => isRemovable(key, prefix))
  await Promise.all(keys.map((key) => objects.delete(key)))
  // Last, because it has the other keys.
  if (row.resultRef !== null) await objects.delete(row.resultRef.objectKey)
  await removeExecutionRow(table, row)
}

/** Removes an execution or a command with its event logs. */
export async function removeExecutionRow(
  { events, executions }: Pick<ReconcilerDeps['table'], 'events' | 'executions'>,
  { tenant, id }: Pick<Execution, 'tenant' | 'id'>,
): Promise<void> {
  for (const kind of workKindOfId(id).logs) await events.removeAll({ kind, tenant, id })
  await executions.remove(tenant, id)
}

const isRemovable = (key: string, prefix: string): boolean =>
  key.startsWith(prefix) && !KEPT_KINDS.includes(key.slice(prefix.length).split('/')[0] ?? '')

/** Every object key in the fields of a row. */
function keysIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('tenants/') ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(keysIn) : []
}
