import type { Container } from '../../services/model/containers/container.ts'
import type { ExecutionEvent } from '../../services/model/executions/execution-event.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import type { Sandbox } from '../../services/model/sandboxes/sandbox.ts'

/** A job and its expected result, known before the job is accepted. */
export interface Job {
  readonly tenant: string
  readonly container: string
  readonly execution: string
  /** Part of every line that this job's code prints, and of no other job's output. */
  readonly marker: string
  readonly stdout: string
  /** The file that its code creates, or null. */
  readonly file: string | null
}

type RowFields = Pick<Execution, 'tenant' | 'id' | 'containerId' | 'status' | 'reason' | 'fence' | 'sandboxId' | 'endedAt'>

/** One recorded event. Entries are in the order in which they happened; rows are recorded by the table's process. */
export type Entry =
  /** A client requested a job … */
  | { readonly type: 'requested'; readonly job: Job }
  /** … and the API accepted it. */
  | { readonly type: 'accepted'; readonly execution: string }
  /** A write to an execution's row that the table accepted. `result` is the stored output or its object key, null before the end. */
  | { readonly type: 'row'; readonly row: RowFields; readonly owner: string | null; readonly result: string | null }
  | { readonly type: 'container'; readonly row: Pick<Container, 'tenant' | 'id' | 'queue' | 'sandboxId' | 'generation' | 'deletedAt'> }
  | { readonly type: 'sandbox'; readonly row: Pick<Sandbox, 'id' | 'state' | 'claimedBy'> }
  /** A batch of events that the table accepted. */
  | {
      readonly type: 'batch'
      readonly tenant: string
      readonly execution: string
      readonly firstSeq: number
      readonly events: number
      readonly fence: number
      /** Whether it contains `done`. */
      readonly hasDone: boolean
    }
  /** The table refused a conditional write. */
  | { readonly type: 'refused'; readonly key: string }
  /** A row or an event log was deleted. */
  | { readonly type: 'removed'; readonly key: string }
  /** A commit that succeeded: the worker's fencing token and the row's token afterwards. */
  | { readonly type: 'commit'; readonly worker: string; readonly execution: string; readonly fence: number; readonly rowFence: number }
  /** A sandbox received an execution id, for the first time or again. */
  | { readonly type: 'submitted'; readonly sandbox: string; readonly execution: string; readonly isFirst: boolean }
  /** Recorded by the code itself. */
  | { readonly type: 'ran'; readonly phase: 'begin' | 'end'; readonly sandbox: string; readonly execution: string; readonly marker: string }
  /** A file written into a sandbox. `sourceContainer` is the container for which it was made. */
  | { readonly type: 'pushed'; readonly sandbox: string; readonly path: string; readonly sourceContainer: string | null }
  /** A container is copied, so that the copy may have its bytes. */
  | { readonly type: 'forked'; readonly source: string; readonly copy: string }
  | { readonly type: 'sent' | 'delivered'; readonly queue: string; readonly message: string }
  | { readonly type: 'killed'; readonly worker: string; readonly at: string }
  /** A worker's step was paused or resumed. */
  | { readonly type: 'paused' | 'resumed'; readonly worker: string; readonly at: string }
  | { readonly type: 'call'; readonly worker: string; readonly verb: string }
  | { readonly type: 'fault'; readonly service: string; readonly kind: string }
  /** The final result that a client reads. */
  | {
      readonly type: 'observed'
      readonly execution: string
      readonly status: string
      readonly reason: string | null
      readonly stdout: string
      readonly files: readonly string[]
      /** The entries of the result's `lost`. */
      readonly lost: readonly string[]
      readonly events: readonly ExecutionEvent[]
    }
  /** A client that follows the events has read `done`. */
  | { readonly type: 'end_read'; readonly execution: string; readonly status: string }
  /** The key of a written object. */
  | { readonly type: 'object'; readonly key: string }

export interface History {
  readonly entries: readonly Entry[]
  add(entry: Entry): void
}

export function createHistory(): History {
  const entries: Entry[] = []
  return { entries, add: (entry) => void entries.push(entry) }
}

/** The final status of a job in the table; null before its end. */
export function finalStatusOf({ entries }: Pick<History, 'entries'>, execution: string): string | null {
  const end = entries.findLast((entry) => entry.type === 'row' && entry.row.id === execution)
  return end?.type === 'row' && end.row.endedAt !== null ? end.row.status : null
}
