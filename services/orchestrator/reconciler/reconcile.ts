import pLimit from 'p-limit'
import type { DueRow } from '../../core/ports/table.ts'
import { inTrace } from '../../core/trace.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { repairContainer } from './repair-container.ts'
import { repairExecution, repairResponse } from './repair-jobs.ts'
import { repairSandbox, stopOrphans } from './repair-sandbox.ts'
import { sweepConversation, sweepFile, sweepUpload } from './sweep-expired.ts'

const ROWS_PER_PAGE = 500
/** Rows that are looked at side by side: each takes a few calls, and one whose calls fail is waited for by few others. */
const AT_ONCE = 16
/** A pass that has seen this many pages leaves the rest to the next one. */
const MAX_PAGES = 20
/** A row whose repair failed is due again after this, milliseconds. */
const AGAIN_MS = 5_000

const REPAIRS: Record<DueRow['kind'], (deps: ReconcilerDeps, row: DueRow) => Promise<void>> = {
  container: repairContainer,
  execution: repairExecution,
  response: repairResponse,
  sandbox: repairSandbox,
  file: sweepFile,
  upload: sweepUpload,
  conversation: sweepConversation,
}

export interface Reconciled {
  readonly looked: number
  readonly failed: number
  readonly orphans: number
}

/**
 * One pass of repair: every row whose time has come is looked at, and what a crash, a lost message or a dead sandbox left undone is done or
 * nudged. A row whose repair fails goes behind all that are due by then, so that no number of them keeps a pass from the others for good.
 */
export async function reconcile(deps: ReconcilerDeps): Promise<Reconciled> {
  let looked = 0
  let failed = 0
  const slots = pLimit(AT_ONCE)
  for await (const rows of duePages(deps)) {
    // Each is a piece of work of its own; one that knows the request behind its row joins that trace.
    const repaired = await Promise.all(rows.map((row) => slots(() => inTrace(null, () => repair(deps, row)))))
    looked += rows.length
    failed += repaired.filter((isDone) => !isDone).length
  }
  const orphans = await stopOrphans(deps)
  if (Object.keys(deps.poolSizes).length > 0) await deps.queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' })
  return { looked, failed, orphans }
}

/** Page by page, each row once, however late the index hears of what was repaired. */
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

async function repair(deps: ReconcilerDeps, row: DueRow): Promise<boolean> {
  try {
    await REPAIRS[row.kind](deps, row)
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
    // What keeps this from being written is what keeps the repair from succeeding: then the row stays where it is.
    await deps.table.postpone(row, deps.clock.now() + AGAIN_MS).catch(() => undefined)
    return false
  }
}
