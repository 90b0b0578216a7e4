import type { Container } from '../../services/core/containers/container.ts'
import type { ExecutionEvent } from '../../services/core/events.ts'
import type { Execution } from '../../services/core/executions/execution.ts'
import type { Sandbox } from '../../services/core/sandboxes/sandbox.ts'

/** What a job is to do and say, made before it is accepted, so that its result can be foretold. */
export interface Job {
  readonly tenant: string
  readonly container: string
  readonly execution: string
  /** In every line that its code writes, and in nobody else's. */
  readonly mark: string
  readonly stdout: string
  /** The file that it leaves, or null. */
  readonly file: string | null
}

type RowFacts = Pick<Execution, 'tenant' | 'id' | 'containerId' | 'status' | 'reason' | 'fence' | 'sandboxId' | 'endedAt'>

/** One recorded fact. The order of a history is the order in which the facts happened, rows as the table's own process wrote them. */
export type Entry =
  /** A client asked for a job … */
  | { readonly type: 'asked'; readonly job: Job }
  /** … and was told that it is accepted. */
  | { readonly type: 'accepted'; readonly execution: string }
  /** A write to an execution's row that the table took. */
  | { readonly type: 'row'; readonly row: RowFacts; readonly owner: string | null; readonly said: string | null }
  | { readonly type: 'container'; readonly row: Pick<Container, 'tenant' | 'id' | 'queue' | 'sandboxId' | 'generation' | 'deletedAt'> }
  | { readonly type: 'sandbox'; readonly row: Pick<Sandbox, 'id' | 'state' | 'claimedBy'> }
  /** A batch of events that the table took. */
  | {
      readonly type: 'batch'
      readonly tenant: string
      readonly execution: string
      readonly firstSeq: number
      readonly events: number
      readonly fence: number
    }
  /** The table refused a conditional write. */
  | { readonly type: 'refused'; readonly key: string }
  /** A row or an event log went. */
  | { readonly type: 'removed'; readonly key: string }
  /** A worker's fenced commit that it was told is done, with the fence of the row as it was afterwards. */
  | { readonly type: 'commit'; readonly worker: string; readonly execution: string; readonly fence: number; readonly rowFence: number }
  /** A sandbox was handed an id: for the first time, or again. */
  | { readonly type: 'handed'; readonly sandbox: string; readonly execution: string; readonly isFirst: boolean }
  /** Written by the code itself. */
  | { readonly type: 'ran'; readonly phase: 'begin' | 'end'; readonly sandbox: string; readonly execution: string; readonly mark: string }
  /** Bytes that went into a sandbox; `of` names the container that they were made for. */
  | { readonly type: 'pushed'; readonly sandbox: string; readonly path: string; readonly of: string | null }
  | { readonly type: 'sent' | 'delivered'; readonly queue: string; readonly message: string }
  | { readonly type: 'killed'; readonly worker: string; readonly at: string }
  /** A step of some worker was held still, or let go. */
  | { readonly type: 'held' | 'released'; readonly worker: string; readonly at: string }
  | { readonly type: 'call'; readonly worker: string; readonly verb: string }
  | { readonly type: 'fault'; readonly service: string; readonly kind: string }
  /** What a client finds in the end. */
  | {
      readonly type: 'seen'
      readonly execution: string
      readonly status: string
      readonly reason: string | null
      readonly stdout: string
      readonly files: readonly string[]
      /** What the result says is missing. */
      readonly lost: readonly string[]
      readonly events: readonly ExecutionEvent[]
    }
  /** An object that was written, by its key. */
  | { readonly type: 'object'; readonly key: string }

export interface History {
  readonly entries: readonly Entry[]
  add(entry: Entry): void
}

export function createHistory(): History {
  const entries: Entry[] = []
  return { entries, add: (entry) => void entries.push(entry) }
}

/** How a job ended, by the table's account; null when it has not. */
export function hasEndedIn({ entries }: Pick<History, 'entries'>, execution: string): string | null {
  const end = entries.findLast((entry) => entry.type === 'row' && entry.row.id === execution)
  return end?.type === 'row' && end.row.endedAt !== null ? end.row.status : null
}
