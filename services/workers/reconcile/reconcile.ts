import pLimit from 'p-limit'
import { isJobName, type ResourceName } from '../../model/due-names.ts'
import type { DueRow } from '../../ports/table.ts'
import { inTrace } from '../../model/trace.ts'
import { createLimitReader } from '../../operations/tenancy/limit-reader.ts'
import type { ReconcilerDeps, RepairDeps } from '../deps.ts'
import { repairSandbox, stopOrphans } from '../place/repair-sandbox.ts'
import { JOB_KINDS } from './job-kinds.ts'
import { sweepTenant } from './sweep-tenant.ts'
import { sweepConversation, sweepFile, sweepSkill, sweepUpload } from './sweep-expired.ts'
import type { SandboxDriver, SandboxStatus } from '../../ports/sandbox-driver.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

const ROWS_PER_PAGE = 500
/** Rows that are processed concurrently: each needs a few calls, and a row whose calls fail delays few others. */
const AT_ONCE = 16
/** A pass processes at most this many pages; the next pass continues. */
const MAX_PAGES = 20
/** A row whose repair failed is due again after this, milliseconds. */
const AGAIN_MS = 5_000

const SWEEPS: Record<ResourceName, (deps: RepairDeps, row: DueRow) => Promise<void>> = {
  file: sweepFile,
  skill: sweepSkill,
  upload: sweepUpload,
  conversation: sweepConversation,
  tenant: sweepTenant,
}

export interface Reconciled {
  readonly checked: number
  readonly failed: number
  readonly orphans: number
}

/**
 * One repair pass: processes every due row, and completes or enqueues what a crash, a lost message or a dead sandbox left undone. A row whose
 * repair fails is postponed behind all other due rows, so that failing rows cannot starve them.
 */
export async function reconcile(ports: ReconcilerDeps): Promise<Reconciled> {
  const deps: RepairDeps = { ...ports, limits: createLimitReader(ports.table.tenants, ports.clock) }
  let checked = 0
  let failed = 0
  const slots = pLimit(AT_ONCE)
  for await (const rows of duePages(deps)) {
    // Each repair is a separate span; a repair whose row has a trace joins that trace.
    const repairOne = await createRepairs(deps, rows)
    const repaired = await Promise.all(rows.map((row) => slots(() => inTrace(null, () => repair(deps, row, repairOne), row.tenant))))
    checked += rows.length
    failed += repaired.filter((isDone) => !isDone).length
  }
  const { stopped: orphans, rows: sandboxes } = await stopOrphans(deps)
  if (sandboxes > 0) await requestCheck(deps)
  if (Object.keys(deps.poolSizes).length > 0) await deps.queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' })
  return { checked, failed, orphans }
}

/** Where passes are rare and sandboxes end by event, one more check of all sandboxes finds those whose event was lost sooner. */
async function requestCheck({ queue, driver, betweenPassesMs }: ReconcilerDeps): Promise<void> {
  if (betweenPassesMs === undefined || !driver.capabilities.reportsStarts) return
  await queue.send('placements', { v: 1, type: 'sandbox.check' }, { group: '_pool', delaySeconds: betweenPassesMs / 2000 })
}

/** Page by page, each row once, because the index may still list rows that this pass has repaired. */
async function* duePages({ table, clock }: ReconcilerDeps): AsyncGenerator<readonly DueRow[]> {
  const seen = new Set<string>()
  const now = clock.now()
  let since = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const rows = await table.due(now, ROWS_PER_PAGE, since)
    const fresh = rows.filter(({ kind, tenant, id }) => !seen.has(`${kind} ${tenant} ${id}`))
    for (const row of fresh) seen.add(`${row.kind} ${row.tenant} ${row.id}`)
    yield fresh
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_PAGE) return
    since = fresh.length === 0 ? last.dueAt + 1 : last.dueAt
  }
}

/** Repairs each row of a page. The statuses of all its sandboxes are read together, because the platform limits reads per account. */
async function createRepairs(deps: RepairDeps, rows: readonly DueRow[]): Promise<(row: DueRow) => Promise<void>> {
  const slots = pLimit(AT_ONCE)
  const ids = rows.flatMap(({ kind, id }) => (kind === 'sandbox' ? [id] : []))
  const reads = await Promise.allSettled(ids.map((id) => slots(() => deps.table.sandboxes.get(id))))
  const sandboxes = new Map(ids.map((id, index) => [id, reads[index]]))
  const found = reads.flatMap((read) => (read.status === 'fulfilled' && read.value !== null ? [read.value] : []))
  const look = createStatusBatch(deps.driver, found)
  return async (row) => {
    if (isJobName(row.kind)) return JOB_KINDS[row.kind].repair(deps, row)
    if (row.kind !== 'sandbox') return SWEEPS[row.kind](deps, row)
    const read = sandboxes.get(row.id)
    if (read?.status === 'rejected') throw read.reason
    const sandbox = read?.value ?? null
    if (sandbox !== null) await repairSandbox(deps, sandbox, () => look(sandbox))
  }
}

async function repair(deps: ReconcilerDeps, row: DueRow, repairOne: (row: DueRow) => Promise<void>): Promise<boolean> {
  try {
    await repairOne(row)
    return true
  } catch (cause) {
    deps.telemetry.emit({
      event: 'repair',
      outcome: 'error',
      kind: row.kind,
      tenant: row.tenant,
      id: row.id,
      detail: cause instanceof Error ? cause.message : String(cause),
    })
    // If the table is unavailable, this write fails as the repair did; the row then keeps its due time.
    await deps.table.postpone(row, deps.clock.now() + AGAIN_MS).catch(() => undefined)
    return false
  }
}

/** Reads the statuses of many sandboxes with the fewest calls, when the first is requested. If the read fails, each status fails. */
function createStatusBatch(driver: SandboxDriver, sandboxes: readonly Sandbox[]): (sandbox: Sandbox) => Promise<SandboxStatus> {
  const { reportsStarts } = driver.capabilities
  // Where starts are reported by event, the platform does not know a start that it has not accepted: in a burst each would cost a search.
  const isAccepted = ({ state, launchedAt }: Sandbox): boolean => state !== 'starting' || !reportsStarts || launchedAt !== undefined
  const refs = sandboxes.filter(
    (sandbox) => (sandbox.state === 'starting' || sandbox.state === 'ready' || sandbox.state === 'claimed') && isAccepted(sandbox),
  )
  const places = new Map(refs.map(({ id }, place) => [id, place]))
  let reading: Promise<readonly SandboxStatus[]> | null = null
  return async ({ id }) => {
    reading ??= driver.inspectAll(refs)
    const status = (await reading)[places.get(id) ?? -1]
    if (status === undefined) throw new Error(`The driver reported no status for the sandbox ${id}.`)
    return status
  }
}
