import { hasEnded } from '../../services/core/executions/execution.ts'
import type { Entry, Job } from './history.ts'

export const VIOLATIONS = [
  'lost',
  'ended_twice',
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

export interface Found {
  readonly violation: Violation
  readonly about: string
}

export interface Verdict {
  readonly found: readonly Found[]
  readonly jobs: number
  readonly kills: number
  readonly operations: number
  /** Conditional writes that the table refused. */
  readonly refused: number
}

type Of<T extends Entry['type']> = Extract<Entry, { type: T }>

/**
 * Holds a whole history against the guarantees: every accepted job has one end and its result is committed once; code runs at most once;
 * nobody writes with a number that is not the row's; the jobs of a container run in the order in which they were queued, one at a time; no
 * output is lost or repeated; no sandbox, no byte and no key is shared between containers or tenants. Entries are read in order.
 */
export function checkHistory(entries: readonly Entry[]): Verdict {
  const found: Found[] = []
  const report = (violation: Violation, about: string): void => void found.push({ violation, about })
  const of = <T extends Entry['type']>(type: T): readonly Of<T>[] => entries.filter((entry): entry is Of<T> => entry.type === type)

  const jobs = new Map<string, Job>(of('asked').map(({ job }) => [job.execution, job]))
  checkEnds(entries, jobs, report)
  checkRuns(entries, jobs, report)
  checkWriters(entries, report)
  checkWhatClientsSee(of('seen'), jobs, report)
  checkWalls(entries, jobs, report)
  return {
    found,
    jobs: of('accepted').length,
    kills: of('killed').length,
    operations: entries.length,
    refused: of('refused').length,
  }
}

type Report = (violation: Violation, about: string) => void

/** One terminal state, the first one for good, for everything that was accepted. */
function checkEnds(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const ends = new Map<string, string>()
  const removed = new Set<string>()
  for (const entry of entries) {
    if (entry.type === 'removed') removed.add(entry.key)
    if (entry.type !== 'row') continue
    const { row, said } = entry
    const before = ends.get(row.id)
    const state = `${row.status} ${row.reason ?? ''} ${row.endedAt ?? ''} ${said ?? ''}`
    if (before !== undefined && before !== state) report('ended_twice', `${row.id}: "${before}", then "${state}"`)
    if (before === undefined && hasEnded(row.status)) ends.set(row.id, state)
  }
  for (const entry of entries) {
    if (entry.type !== 'accepted' || ends.has(entry.execution)) continue
    // A job goes with its container.
    const job = jobs.get(entry.execution)
    if (job === undefined || !removed.has(`T#${job.tenant}#execution#${job.execution}`)) report('lost', entry.execution)
  }
}

/** At most one run an id, none after its end, in the order of the container's queue, one at a time. */
function checkRuns(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const begun = new Set<string>()
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
    if (begun.has(entry.execution)) report('ran_twice', `${entry.execution} in ${entry.sandbox}`)
    begun.add(entry.execution)
    if (ended.has(entry.execution)) report('ran_after_end', entry.execution)
    const other = running.get(key)
    if (other !== undefined) report('overlapped', `${entry.execution} began while ${other} ran in ${container}`)
    running.set(key, entry.execution)
    const place = places.get(container)?.get(entry.execution) ?? -1
    if (place < (lastPlace.get(container) ?? -1)) report('out_of_order', `${entry.execution} in ${container}`)
    lastPlace.set(container, place)
  }
}

/** A write under a number that is not the row's, to the row or to its log of events. */
function checkWriters(entries: readonly Entry[], report: Report): void {
  const fences = new Map<string, number>()
  const ended = new Set<string>()
  const sealedBy = new Map<string, number>()
  /** Under which number an execution was first given to the sandbox that it is in. */
  const begunBy = new Map<string, number>()
  for (const entry of entries) {
    if (entry.type === 'row') {
      const { id, fence, sandboxId, status } = entry.row
      if (sandboxId === null) begunBy.delete(id)
      else if (!begunBy.has(id)) begunBy.set(id, fence)
      // Who reads on first takes the log's next place: else what a predecessor still holds could follow the end.
      const isOpen = (begunBy.get(id) ?? fence) < fence && (sealedBy.get(id) ?? 0) < fence
      if (status === 'succeeded' && !ended.has(id) && isOpen) report('late_events', `${id} ended with its log open to ${begunBy.get(id)}`)
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
    // A predecessor's last batch may still arrive; it may not once its successor has written.
    const sealed = sealedBy.get(entry.execution) ?? 0
    if (entry.fence < sealed) report('late_events', `${entry.execution} from ${entry.firstSeq} with ${entry.fence} after ${sealed}`)
    sealedBy.set(entry.execution, Math.max(sealed, entry.fence))
  }
}

function checkWhatClientsSee(seen: readonly Of<'seen'>[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  for (const { execution, status, stdout, files, lost, events } of seen) {
    const job = jobs.get(execution)
    if (job === undefined) continue
    if (status === 'succeeded' && stdout !== job.stdout) report('output_wrong', `${execution} said ${JSON.stringify(stdout)}`)
    // A file that is missing is said to be.
    const wanted = job.file === null || lost.includes(`file ${JSON.stringify(job.file)}`) ? '' : job.file
    if (status === 'succeeded' && files.join() !== wanted) report('output_wrong', `${execution} left ${files.join()}`)
    const streamed = events.map((event) => (event.type === 'stdout' ? event.text : '')).join('')
    // One that was cut short has a beginning of what it would have said.
    if (status === 'succeeded' ? streamed !== job.stdout : !job.stdout.startsWith(streamed))
      report('events_wrong', `${execution} streamed ${JSON.stringify(streamed)}`)
    if (events.some((event, index) => event.seq !== index + 1)) report('events_wrong', `${execution} has a gap in its numbers`)
    const isClosed = events.at(-1)?.type === 'done' && events.filter((event) => event.type === 'done').length === 1
    if (!isClosed) report('events_wrong', `${execution} does not end with one "done"`)
  }
}

/** One container a sandbox, its own bytes only, and keys below its own tenant. */
function checkWalls(entries: readonly Entry[], jobs: ReadonlyMap<string, Job>, report: Report): void {
  const holders = new Map<string, string>()
  const owners = new Map<string, string>()
  for (const { tenant, container, execution } of jobs.values()) owners.set(container, tenant).set(execution, tenant).set(tenant, tenant)
  const hold = (sandbox: string, container: string): void => {
    const holder = holders.get(sandbox) ?? container
    if (holder !== container) report('shared_sandbox', `${sandbox} served ${holder} and ${container}`)
    holders.set(sandbox, holder)
  }
  for (const entry of entries) {
    if (entry.type === 'ran') {
      const job = jobs.get(entry.execution)
      if (job !== undefined) hold(entry.sandbox, job.container)
      if (job !== undefined && entry.mark !== job.mark) report('foreign_bytes', `${entry.execution} ran the code of ${entry.mark}`)
    }
    if (entry.type === 'sandbox' && entry.row.claimedBy !== null) hold(entry.row.id, entry.row.claimedBy.containerId)
    if (entry.type === 'pushed' && entry.of !== null) hold(entry.sandbox, entry.of)
    if (entry.type === 'object') {
      const [root, tenant = '', parent = ''] = entry.key.split('/')
      if (root !== 'tenants' || !owners.has(tenant) || (owners.get(parent) ?? tenant) !== tenant) report('foreign_key', entry.key)
    }
  }
}
