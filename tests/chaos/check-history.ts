import { hasEnded } from '../../services/model/executions/execution.ts'
import type { Entry, Job } from './history.ts'

export const VIOLATIONS = [
  'lost',
  'ended_twice',
  'early_end',
  'ran_twice',
  'ran_after_end',
  'stale_write',
  'late_events',
  'out_of_order',
  'overlapped',
  'output_wrong',
  'events_wrong',
  'shared_sandbox',
  'foreign_bytes',
  'foreign_key',
] as const
export type Violation = (typeof VIOLATIONS)[number]

export interface ReportedViolation {
  readonly violation: Violation
  readonly detail: string
}

export interface Verdict {
  readonly violations: readonly ReportedViolation[]
  readonly jobs: number
  readonly kills: number
  readonly operations: number
  /** The number of conditional writes that the table refused. */
  readonly refused: number
}

type Of<T extends Entry['type']> = Extract<Entry, { type: T }>

/**
 * Checks a whole history against the guarantees: every accepted job has one end, its result is committed once, and no reader sees another end; code runs at most once;
 * every write carries the row's fencing token; the jobs of a container run in queue order, one at a time; no output is lost or repeated; no
 * sandbox, file content or object key is shared between containers or tenants. Entries are read in order.
 */
export function checkHistory(entries: readonly Entry[]): Verdict {
  const violations: ReportedViolation[] = []
  const report = (violation: Violation, detail: string): void => void violations.push({ violation, detail })
  const of = <T extends Entry['type']>(type: T): readonly Of<T>[] => entries.filter((entry): entry is Of<T> => entry.type === type)

  const jobs = new Map<string, Job>(of('requested').map(({ job }) => [job.execution, job]))
  checkEnds(entries, jobs, report)
  checkReadEnds(entries, report)
  checkRuns(entries, jobs, report)
  checkWriters(entries, report)
  checkObservedResults(of('observed'), jobs, report)
  checkIsolation(entries, jobs, report)
  return {
    violations,
    jobs: of('accepted').length,
    kills: of('killed').length,
    operations: entries.length,
    refused: of('refused').length,
  }
}

type Report = (violation: Violation, detail: string) => void

/** Every accepted job has exactly one terminal state, which never changes; a lease granted later, by its fencing token, counts as a change. */
function checkEnds(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const ends = new Map<string, string>()
  const removed = new Set<string>()
  for (const entry of entries) {
    if (entry.type === 'removed') removed.add(entry.key)
    if (entry.type !== 'row') continue
    const { row, result } = entry
    const before = ends.get(row.id)
    const state = `${row.status} ${row.reason ?? ''} ${row.endedAt ?? ''} ${result ?? ''} under ${row.fence}`
    if (before !== undefined && before !== state) report('ended_twice', `${row.id}: "${before}", then "${state}"`)
    if (before === undefined && hasEnded(row.status)) ends.set(row.id, state)
  }
  for (const entry of entries) {
    if (entry.type !== 'accepted' || ends.has(entry.execution)) continue
    // Deleting a container deletes its jobs.
    const job = jobs.get(entry.execution)
    if (job === undefined || !removed.has(`T#${job.tenant}#execution#${job.execution}`)) report('lost', entry.execution)
  }
}

/** A reader has `done` only from an ended row, and with its status. Only the row contains it, because a log may be read before the row ends. */
function checkReadEnds(entries: readonly Entry[], report: Report): void {
  const statuses = new Map<string, string>()
  for (const entry of entries) {
    if (entry.type === 'row' && hasEnded(entry.row.status)) statuses.set(entry.row.id, entry.row.status)
    if (entry.type === 'batch' && entry.hasDone) report('early_end', `the log of ${entry.execution} contains "done"`)
    if (entry.type === 'end_read' && statuses.get(entry.execution) !== entry.status)
      report(
        'early_end',
        `a reader of ${entry.execution} saw "${entry.status}", its row was ${statuses.get(entry.execution) ?? 'not ended'}`,
      )
  }
}

/** Each id runs at most once, not after its end, in the order of its container's queue, one at a time. */
function checkRuns(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const started = new Set<string>()
  const ended = new Set<string>()
  const running = new Map<string, string>()
  const places = new Map<string, Map<string, number>>()
  const lastPlace = new Map<string, number>()
  for (const entry of entries) {
    if (entry.type === 'row' && hasEnded(entry.row.status)) ended.add(entry.row.id)
    if (entry.type === 'container') {
      const queued = places.get(entry.row.id) ?? new Map<string, number>()
      places.set(entry.row.id, queued)
      for (const id of entry.row.queue) if (!queued.has(id)) queued.set(id, queued.size)
    }
    if (entry.type !== 'ran') continue
    const container = jobs.get(entry.execution)?.container ?? ''
    const key = `${container} ${entry.sandbox}`
    if (entry.phase === 'end') {
      if (running.get(key) === entry.execution) running.delete(key)
      continue
    }
    if (started.has(entry.execution)) report('ran_twice', `${entry.execution} in ${entry.sandbox}`)
    started.add(entry.execution)
    if (ended.has(entry.execution)) report('ran_after_end', entry.execution)
    const other = running.get(key)
    if (other !== undefined) report('overlapped', `${entry.execution} started while ${other} ran in ${container}`)
    running.set(key, entry.execution)
    const place = places.get(container)?.get(entry.execution) ?? -1
    if (place < (lastPlace.get(container) ?? -1)) report('out_of_order', `${entry.execution} in ${container}`)
    lastPlace.set(container, place)
  }
}

/** Finds writes to a row or its event log whose fencing token is not the row's. */
function checkWriters(entries: readonly Entry[], report: Report): void {
  const fences = new Map<string, number>()
  const ended = new Set<string>()
  const fencedBy = new Map<string, number>()
  /** The fencing token under which an execution was first submitted to its present sandbox. */
  const submittedBy = new Map<string, number>()
  for (const entry of entries) {
    if (entry.type === 'row') {
      const { id, fence, sandboxId, status } = entry.row
      if (sandboxId === null) submittedBy.delete(id)
      else if (!submittedBy.has(id)) submittedBy.set(id, fence)
      // A resuming worker appends to the log first. Otherwise a predecessor could append its pending events after the end.
      const isOpen = (submittedBy.get(id) ?? fence) < fence && (fencedBy.get(id) ?? 0) < fence
      if (status === 'succeeded' && !ended.has(id) && isOpen)
        report('late_events', `${id} ended with its log open to ${submittedBy.get(id)}`)
      const before = fences.get(entry.row.id) ?? 0
      if (entry.row.fence < before || entry.row.fence > before + 1)
        report('stale_write', `${entry.row.id}: fence ${before}, then ${entry.row.fence}`)
      fences.set(entry.row.id, entry.row.fence)
      if (hasEnded(entry.row.status)) ended.add(entry.row.id)
    }
    if (entry.type === 'commit' && entry.fence !== entry.rowFence)
      report('stale_write', `${entry.worker} wrote ${entry.execution} with ${entry.fence}, its fence was ${entry.rowFence}`)
    if (entry.type !== 'batch') continue
    if (ended.has(entry.execution)) report('late_events', `${entry.execution} from ${entry.firstSeq}, after its end`)
    // A predecessor's last batch may arrive only before its successor's first batch.
    const fenced = fencedBy.get(entry.execution) ?? 0
    if (entry.fence < fenced) report('late_events', `${entry.execution} from ${entry.firstSeq} with ${entry.fence} after ${fenced}`)
    fencedBy.set(entry.execution, Math.max(fenced, entry.fence))
  }
}

function checkObservedResults(seen: readonly Of<'observed'>[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  for (const { execution, status, stdout, files, lost, events } of seen) {
    const job = jobs.get(execution)
    if (job === undefined) continue
    if (status === 'succeeded' && stdout !== job.stdout) report('output_wrong', `${execution} result ${JSON.stringify(stdout)}`)
    // A file that is missing is result to be.
    const expectedFile = job.file === null || lost.includes(`file ${JSON.stringify(job.file)}`) ? '' : job.file
    if (status === 'succeeded' && files.join() !== expectedFile) report('output_wrong', `${execution} left ${files.join()}`)
    const streamed = events.map((event) => (event.type === 'stdout' ? event.text : '')).join('')
    // One that was cut short has a beginning of what it would have result.
    if (status === 'succeeded' ? streamed !== job.stdout : !job.stdout.startsWith(streamed))
      report('events_wrong', `${execution} streamed ${JSON.stringify(streamed)}`)
    if (events.some((event, index) => event.seq !== index + 1)) report('events_wrong', `${execution} has a gap in its numbers`)
    const isClosed = events.at(-1)?.type === 'done' && events.filter((event) => event.type === 'done').length === 1
    if (!isClosed) report('events_wrong', `${execution} does not end with one "done"`)
  }
}

/** A sandbox serves one container and receives only its files; object keys lie below their tenant. */
function checkIsolation(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const servedContainers = new Map<string, string>()
  const owners = new Map<string, string>()
  const sources = new Map<string, string>()
  for (const { tenant, container, execution } of jobs.values()) owners.set(container, tenant).set(execution, tenant).set(tenant, tenant)
  const serve = (sandbox: string, container: string): void => {
    const served = servedContainers.get(sandbox) ?? container
    if (served !== container) report('shared_sandbox', `${sandbox} served ${served} and ${container}`)
    servedContainers.set(sandbox, served)
  }
  for (const entry of entries) {
    if (entry.type === 'ran') {
      const job = jobs.get(entry.execution)
      if (job !== undefined) serve(entry.sandbox, job.container)
      if (job !== undefined && entry.marker !== job.marker) report('foreign_bytes', `${entry.execution} ran the code of ${entry.marker}`)
    }
    if (entry.type === 'sandbox' && entry.row.claimedBy !== null) serve(entry.row.id, entry.row.claimedBy.containerId)
    if (entry.type === 'forked') sources.set(entry.copy, entry.source)
    if (entry.type === 'pushed' && entry.sourceContainer !== null) {
      const served = servedContainers.get(entry.sandbox) ?? entry.sourceContainer
      // A copy has the bytes of its source.
      serve(entry.sandbox, sources.get(served) === entry.sourceContainer ? served : entry.sourceContainer)
    }
    if (entry.type === 'object') {
      const [root, tenant = '', parent = ''] = entry.key.split('/')
      if (root !== 'tenants' || !owners.has(tenant) || (owners.get(parent) ?? tenant) !== tenant) report('foreign_key', entry.key)
    }
  }
}
