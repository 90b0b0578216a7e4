import { isDeepStrictEqual } from 'node:util'
import type { EventPayload, ResponseEvent } from '../../core/events.ts'
import { topicOf } from '../../core/events.ts'
import { EXTENSION_EVENT, extensionData } from '../../core/responses/extension-event.ts'
import type { Execution } from '../../core/executions/execution.ts'
import type { Patch } from '../../core/ports/leased-store.ts'
import { renderContextCut, renderResponse } from '../../core/responses/render-response.ts'
import { storeItems } from '../../core/responses/response-blobs.ts'
import {
  isCheckpointed,
  hasEventStream,
  isOpenCall,
  type ContextCut,
  type PendingCall,
  type ResponseRecord,
  type ResponseItem,
  type ResponseUsage,
} from '../../core/responses/response.ts'
import type { History } from '../conversation/read-history.ts'
import type { TurnDeps } from '../deps.ts'
import { EventLogWriter, type FlushPriority } from '../../jobs/event-log-writer.ts'
import { mergeDeltas } from '../events/merge-deltas.ts'
import { itemDone, itemWritten } from '../../core/responses/item-events.ts'
import { recoverItems, toldKey } from '../events/recover-items.ts'
import type { ContainerContext } from './container-context.ts'

/** Events that are told once, even when the step that told them died before its commit. */
const ONCE =
  /^response\.(?:created|queued|in_progress|code_interpreter_call\.(?:interpreting|completed)|web_search_call\.(?:searching|completed)|output_item\.done)$/

/** A response in the hands of one step: what the row says, and what this step has changed and not yet committed. */
export class Turn {
  readonly row: ResponseRecord
  readonly writer: EventLogWriter<EventPayload>
  /** The execution that the turn waits for, as it was last seen. */
  execution: Execution | null
  /** What was said before this turn, once it was read. */
  history: History | null = null
  /** As it was last read, for as long as it may be so. */
  workplace: ContainerContext | null = null
  /** Whether this step has brought the row further. */
  hasCommitted = false
  items: ResponseItem[]
  pending: PendingCall | null
  usage: ResponseUsage
  toolCalls: number
  consecutiveFailures: number
  containerId: string | null
  error: ResponseRecord['error']
  incompleteReason: string | null
  droppedParameters: readonly string[]
  #contextCut: ContextCut | null
  readonly #deps: TurnDeps
  readonly #told: ReadonlySet<string>
  readonly #firstSeq: number
  /** What a step that died before its commit has told. */
  readonly unaccounted: readonly ResponseEvent[]

  /**
   * `row` whole and taken; `logged`: events of the log that its predecessor did not account for, from the row's tail on. Null: it accounted for
   * all. `broken` hears of a log that cannot be written.
   */
  constructor(
    deps: TurnDeps,
    row: ResponseRecord,
    logged: readonly ResponseEvent[] | null,
    execution: Execution | null,
    broken: (cause: unknown) => void,
  ) {
    this.row = row
    this.execution = execution
    this.#deps = deps
    this.items = [...row.items]
    this.pending = row.pending
    this.usage = row.usage
    this.toolCalls = row.toolCalls
    this.consecutiveFailures = row.consecutiveFailures
    this.containerId = row.containerId
    this.error = row.error
    this.incompleteReason = row.incompleteReason
    this.droppedParameters = row.droppedParameters ?? []
    this.#contextCut = row.contextCut
    const owner = { kind: 'response', tenant: row.tenant, id: row.id } as const
    const unaccounted = (logged ?? []).filter((event) => event.seq >= row.nextSeq)
    this.writer = new EventLogWriter({
      log: {
        append: (batch) => deps.table.events.append(owner, batch),
        written: () => deps.signals.notify(topicOf('response', row.id)),
        broken,
      },
      fence: row.fence,
      nextSeq: (unaccounted.at(-1)?.seq ?? row.nextSeq - 1) + 1,
      // Whoever writes begins with the row's tail: when the log has anything from there on, it has the tail.
      tail: (logged ?? []).length > 0 ? [] : row.tailEvents,
      now: () => deps.clock.now(),
      merge: mergeDeltas,
    })
    this.#firstSeq = this.writer.writtenSeq
    this.unaccounted = unaccounted
    const recovered = recoverItems(unaccounted, row.items.length)
    this.#told = recovered.told
    this.#begin()
    // What a tool answered and the log has told is not asked for a second time.
    for (const [index, answer] of recovered.answers) if (isOpenCall(this.items[index] ?? answer, row.request)) this.items[index] = answer
    for (const { item, isWritten, isDone } of recovered.items) this.#closeRecovered(item, isWritten, isDone)
  }

  emit(fact: EventPayload, urgency: FlushPriority): void {
    if (!hasEventStream(this.row)) return
    if (ONCE.test(fact.type) && this.#told.has(toldKey(fact.type, fact.data))) return
    this.writer.emit(fact, urgency)
  }

  /** Replaces an item that has come to its end and says so. */
  finishItem(index: number, item: ResponseItem): void {
    this.items[index] = item
    if (hasEventStream(this.row)) this.emit(itemDone(index, item, { include: this.row.request.include }), 'soon')
  }

  /** Parameters of the request that the model does not support. */
  noteDropped(names: readonly string[]): void {
    this.droppedParameters = [...new Set([...this.droppedParameters, ...names])]
  }

  /** What the model did not get to read, said once for each time that it changes. */
  noteContext(cut: ContextCut | null): void {
    const before = JSON.stringify(this.#contextCut)
    this.#contextCut = cut
    if (cut !== null && JSON.stringify(cut) !== before)
      this.emit({ type: EXTENSION_EVENT, data: extensionData('context_cut', { context: renderContextCut(cut) }) }, 'soon')
  }

  noteCommit(row: ResponseRecord): void {
    const madeOf = ({ items, itemsRef, pending, usage }: ResponseRecord): unknown => ({ items, itemsRef, pending, usage })
    this.hasCommitted ||= !isDeepStrictEqual(madeOf(row), madeOf(this.row))
  }

  /** Whether nobody before this step can write to the log any more: they wrote all they had, or this step has taken their next place. */
  get isSealed(): boolean {
    return !hasEventStream(this.row) || isCheckpointed(this.row) || this.writer.writtenSeq > this.#firstSeq
  }

  /**
   * Takes the next place of the log. A predecessor that only stood still writes its batches one after the other, so nothing of its can follow. Throws
   * EventLogConflictError when it was faster.
   */
  async seal(): Promise<void> {
    if (this.isSealed) return
    if (this.writer.nextSeq === this.#firstSeq) this.emit({ type: EXTENSION_EVENT, data: extensionData('taken_over', {}) }, 'soon')
    await this.writer.drain()
  }

  /** What waits, to ride in a row that somebody goes on with, up to this many bytes of JSON; more is written. So is all of it while the log is not sealed. */
  async tail(maxBytes: number): Promise<readonly ResponseEvent[]> {
    if (!this.isSealed) await this.writer.drain()
    return this.writer.copyTail(maxBytes)
  }

  /** The response as readers see it now, or with these changes. */
  render(change: Partial<ResponseRecord> = {}): Record<string, unknown> {
    const { items, usage, containerId, error, incompleteReason, droppedParameters } = this
    return renderResponse(
      { ...this.row, items, usage, containerId, error, incompleteReason, droppedParameters, contextCut: this.#contextCut, ...change },
      { include: this.row.request.include },
    )
  }

  /** What has to be committed, as it is now; its `nextSeq` may be committed once the log, or the same patch, has every event below it. */
  snapshot(): { readonly nextSeq: number; readonly patch: () => Promise<Patch<ResponseRecord>> } {
    const { pending, usage, toolCalls, consecutiveFailures, containerId, error, incompleteReason, droppedParameters } = this
    const contextCut = this.#contextCut
    const { nextSeq } = this.writer
    const items = [...this.items]
    return {
      nextSeq,
      patch: async () => ({
        ...(await storeItems(this.#deps.objects, this.row, items)),
        pending,
        usage,
        toolCalls,
        consecutiveFailures,
        containerId,
        error,
        incompleteReason,
        droppedParameters,
        contextCut,
        nextSeq,
        tailEvents: [],
      }),
    }
  }

  #begin(): void {
    if (this.row.nextSeq > 0 || !hasEventStream(this.row)) return
    const { background } = this.row.request
    const say = (type: string, status: ResponseRecord['status']): void =>
      this.emit({ type, data: { response: this.render({ status, items: [] }) } }, 'soon')
    say('response.created', background ? 'queued' : 'in_progress')
    if (background) say('response.queued', 'queued')
    say('response.in_progress', 'in_progress')
  }

  /** What was sent was sent: an item that its step could not finish ends as `incomplete`, and the next one gets a new index. */
  #closeRecovered(item: ResponseItem, isWritten: boolean, isDone: boolean): void {
    const index = this.items.push(item) - 1
    if (isDone) return
    const closed = { ...item, status: 'incomplete' } as ResponseItem
    if (!isWritten) for (const fact of itemWritten(index, closed)) this.emit(fact, 'paced')
    this.finishItem(index, closed)
  }
}
