import pLimit from 'p-limit'
import { isDeepStrictEqual } from 'node:util'
import type { EventPayload, ResponseEvent } from '../../model/events.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { Patch } from '../../ports/leased-store.ts'
import { renderResponse } from '../../model/responses/render-response.ts'
import { storeItems } from '../../operations/turns/response-blobs.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { FlushPriority } from '../../jobs/event-log-writer.ts'
import type { TurnDeps } from './deps.ts'
import { TurnLog, type TurnLogOptions } from './turn-log.ts'
import { jobProgressOf, stateOf, type JobProgress, type TurnChange, type TurnState } from './turn-state.ts'
import {
  isContinued,
  itemDone,
  itemWritten,
  isOpenCall,
  type ResponseItem,
  extendItem,
  isServerCall,
  parseItem,
} from '../../model/responses/items/item-types.ts'
import type { Wire } from '../../model/responses/items/item-type.ts'

/** State to commit. `nextSeq` may be committed when the log, or the same patch, has every event below it. */
export interface TurnSnapshot {
  readonly nextSeq: number
  /** Number of changes that it contains. */
  readonly changes: number
  readonly patch: () => Promise<Patch<ResponseRecord>>
}

/** A response during one step: the row as it was acquired, and the changes of this step. Only `apply` changes the state. */
export class Turn {
  readonly row: ResponseRecord
  readonly log: TurnLog
  /** Whether this step has committed progress. */
  hasCommitted = false
  /** Whether readers may read the output of the pending job from its execution, before this step copies it into the log. */
  hasLiveOutput = false
  #state: TurnState
  #job: JobProgress
  #changes = 0
  /** Number of changes that the row has. */
  committedChanges = -1
  /** Writes of the row, one after the other: an older state must not replace a newer one. */
  readonly commits = pLimit(1)
  readonly #objects: TurnDeps['objects']

  /** `row`: complete and leased. `execution`: that of the pending call. */
  constructor(
    deps: Pick<TurnDeps, 'table' | 'signals' | 'clock' | 'objects'>,
    row: ResponseRecord,
    { execution, ...log }: TurnLogOptions & { readonly execution: Execution | null },
  ) {
    this.row = row
    this.#objects = deps.objects
    this.#state = stateOf(row)
    this.#job = jobProgressOf(execution)
    this.log = new TurnLog(deps, row, log)
    this.#emitBeginning()
    this.#recover()
  }

  get state(): TurnState {
    return this.#state
  }
  get job(): JobProgress {
    return this.#job
  }

  emit(payload: EventPayload, priority: FlushPriority): void {
    this.log.emit(payload, priority)
  }

  /** Records the changes of an action in the state and in the event log. */
  apply({ state = {}, items = [], events = [], finished = [], job }: TurnChange): void {
    this.#changes++
    const all = [...this.#state.items]
    for (const [index, item] of [...items, ...finished]) all[index] = item
    this.#state = { ...this.#state, ...state, items: all }
    if (job !== undefined) this.#job = job
    for (const { payload, priority } of events) this.emit(payload, priority)
    for (const [index, item, rendered] of finished) this.emit(itemDone(index, rendered ?? item, this.row.request), 'soon')
  }

  noteCommit(row: ResponseRecord): void {
    const progressOf = ({ items, itemsRef, pending, usage }: ResponseRecord): unknown => ({ items, itemsRef, pending, usage })
    this.hasCommitted ||= !isDeepStrictEqual(progressOf(row), progressOf(this.row))
  }

  /** The response as readers see it with these changes. */
  render(change: Partial<ResponseRecord>): Record<string, unknown> {
    return renderResponse({ ...this.row, ...this.#state, ...change }, this.row.request)
  }

  snapshot(): TurnSnapshot {
    const { items, ...state } = this.#state
    const { nextSeq } = this.log
    const patch = async () => ({ ...(await storeItems(this.#objects, this.row, items)), ...state, nextSeq, tailEvents: [] })
    return { nextSeq, changes: this.#changes, patch }
  }

  #emitBeginning(): void {
    if (this.row.nextSeq > 0) return
    const { background } = this.row.request
    const emit = (type: string, status: ResponseRecord['status']): void =>
      this.emit({ type, data: { response: this.render({ status, items: [] }) } }, 'soon')
    emit('response.created', background ? 'queued' : 'in_progress')
    if (background) emit('response.queued', 'queued')
    emit('response.in_progress', 'in_progress')
  }

  /** Readers have the uncommitted events of the predecessor: its items stay, and those that it did not finish end as `incomplete`. */
  #recover(): void {
    const { items, answers } = recoverItems(this.log.uncommitted, this.#state.items.length)
    // A tool whose answer is in the log is not called again.
    const answered = [...answers].filter(([index, answer]) => isOpenCall(this.#state.items[index] ?? answer, this.row.request))
    this.apply({ items: answered })
    for (const { item, isWritten, isDone } of items) {
      const index = this.#state.items.length
      if (isDone || isContinued(item)) {
        this.apply({ items: [[index, item]] })
        continue
      }
      const closed = { ...item, status: 'incomplete' } as ResponseItem
      const events = isWritten ? [] : itemWritten(index, closed).map((payload) => ({ payload, priority: 'paced' as const }))
      this.apply({ events, finished: [[index, closed]] })
    }
  }
}

/** Events that a step wrote to the log before it crashed without a commit. */
interface Recovered {
  /** Items in the log that are not in the row, in the order of their `output_index`. */
  readonly items: readonly { readonly item: ResponseItem; readonly isWritten: boolean; readonly isDone: boolean }[]
  /** Answers of this server's tools, by the `output_index` of a call that has none in the row. */
  readonly answers: ReadonlyMap<number, ResponseItem>
}

/** Reads the events that the row does not cover. `known` is the number of items in the row. */
function recoverItems(events: readonly ResponseEvent[], known: number): Recovered {
  const found = new Map<number, { item: ResponseItem; isWritten: boolean; isDone: boolean }>()
  const answers = new Map<number, ResponseItem>()
  for (const { type, data } of events) {
    const index = data['output_index']
    if (typeof index !== 'number') continue
    if (index < known) {
      const answer = type === 'response.output_item.done' ? parseItem(data['item'] as Wire) : null
      if (answer !== null && isServerCall(answer) && answer.output !== null) answers.set(index, answer)
      continue
    }
    if (type === 'response.output_item.added') {
      const item = parseItem(data['item'] as Wire)
      if (item !== null) found.set(index, { item, isWritten: false, isDone: false })
      continue
    }
    const entry = found.get(index)
    if (entry === undefined) continue
    if (type === 'response.output_item.done') {
      entry.item = parseItem(data['item'] as Wire) ?? entry.item
      entry.isDone = true
    } else if (type === 'response.content_part.added') {
      if ((data['part'] as { type?: unknown } | undefined)?.type === 'refusal' && entry.item.type === 'message')
        entry.item = { ...entry.item, isRefusal: true }
    } else if (type.endsWith('.delta') && typeof data['delta'] === 'string') {
      entry.item = extendItem(entry.item, data['delta'])
    } else if (type === 'response.content_part.done' || type.endsWith('_code.done') || type.endsWith('_arguments.done')) {
      entry.isWritten = true
    }
  }
  const items = [...found.entries()].toSorted(([a], [b]) => a - b).map(([, entry]) => entry)
  return { items, answers }
}
