import { outputItemId } from '../../core/responses/item-ids.ts'
import type { ModelDelta, ModelToolCall } from '../../core/ports/chat-model.ts'
import type { ResponseItem } from '../../core/responses/response.ts'
import type { EventPayload } from '../../core/events.ts'
import type { FlushPriority } from '../../jobs/event-log-writer.ts'
import { itemDelta, itemDone, itemStarted, itemWritten, type MessageItem } from '../../core/responses/item-events.ts'
import type { Source } from '../../core/ports/tool.ts'
import { AnswerText, type LinkableFile } from './answer-text.ts'
import { fencedPython } from './fenced-code.ts'
import { OpenCall, type CallKind } from './open-call.ts'

export interface AnswerOptions {
  readonly responseId: string
  /** The `output_index` of the first item. */
  readonly firstIndex: number
  readonly files: readonly LinkableFile[]
  /** Pages that tools have found in this turn. */
  readonly sources: readonly Source[]
  readonly containerId: string
  /** The turn ends with this answer, even if it calls tools. */
  readonly isLast: boolean
  /** Calls beyond this many are ignored. */
  readonly maxCalls: number
  /** The kind of the tool with this name; null when there is none. */
  kindOf(name: string): CallKind | null
  emit(payload: EventPayload, priority: FlushPriority): void
}

/** One answer of the model, turned into items and their events while it arrives. */
export class AnswerStream {
  readonly #options: AnswerOptions
  /** In the order of their `output_index`; a slot is replaced when its item is closed. */
  readonly #items: ResponseItem[] = []
  #message: { readonly slot: number; readonly item: MessageItem; readonly text: AnswerText } | null = null
  readonly #calls = new Map<number, OpenCall>()
  readonly #unknown: ModelToolCall[] = []
  #begun = 0
  #raw = ''
  #finish: Extract<ModelDelta, { type: 'finish' }>['reason'] | null = null

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  async push(delta: Exclude<ModelDelta, { type: 'usage' | 'dropped_parameters' }>): Promise<void> {
    if (delta.type === 'finish') this.#finish = delta.reason
    else if (delta.type === 'tool_call') await this.#pushCall(delta)
    else await this.#pushText(delta.text, delta.type === 'refusal')
  }

  /** Null until the model reports the end of its answer. */
  get finishReason(): 'stop' | 'length' | 'tool_calls' | 'content_filter' | null {
    return this.#finish
  }

  /**
   * Closes every item: calls are ready to be run, or failed when their arguments are unusable. `isCut` closes what was open as `incomplete`.
   * `wantsCode`: fenced Python in an answer without calls becomes calls.
   */
  async close(how: { readonly isCut: boolean; readonly wantsCode?: boolean }): Promise<void> {
    const calls = [...this.#calls.values()]
    const blocks = how.wantsCode === true && !how.isCut && calls.length === 0 ? fencedPython(this.#raw) : []
    const continues = blocks.length > 0 || calls.some((call) => call.slot !== null || !this.#options.isLast)
    await this.#closeMessage(how.isCut ? null : continues ? 'commentary' : 'final_answer')
    for (const call of calls) this.#closeCall(call, how.isCut)
    for (const code of blocks) this.#addCode(code)
  }

  /** Complete after `close`. */
  get items(): readonly ResponseItem[] {
    return this.#items
  }

  /** Calls of tools that do not exist; readers never see them. */
  get unknownCalls(): readonly ModelToolCall[] {
    return this.#unknown
  }

  #addCode(code: string): void {
    const call = new OpenCall()
    call.add({ type: 'tool_call', index: 0, id: null, name: null, arguments: JSON.stringify({ code }) })
    const item = call.begin('code', this.#options.containerId, this.#next())
    call.slot = this.#open(item)
    if (item.type === 'code_interpreter_call') this.#options.emit(itemDelta(this.#indexOf(call.slot), item, call.take()), 'now')
    this.#closeCall(call, false)
  }

  async #pushText(text: string, isRefusal: boolean): Promise<void> {
    this.#raw += text
    if (this.#message === null) {
      // Line breaks around tool calls are no message.
      if (text.trim() === '') return
      const item: MessageItem = {
        type: 'message',
        id: outputItemId('message', this.#options.responseId, this.#indexOf(this.#items.length)),
        status: 'in_progress',
        text: '',
        citations: [],
        phase: null,
        isRefusal,
      }
      this.#message = { slot: this.#open(item), item, text: new AnswerText(this.#options.files, this.#options.sources) }
    }
    const { slot, item, text: answer } = this.#message
    const isFirst = answer.text === ''
    const added = await answer.push(text)
    if (added !== '') this.#options.emit(itemDelta(this.#indexOf(slot), item, added), isFirst ? 'now' : 'paced')
  }

  async #closeMessage(phase: MessageItem['phase']): Promise<void> {
    if (this.#message === null) return
    const { slot, item, text } = this.#message
    this.#message = null
    const rest = await text.end()
    const index = this.#indexOf(slot)
    if (rest !== '') this.#options.emit(itemDelta(index, item, rest), 'paced')
    const isWhole = phase !== null && this.#finish !== 'length' && this.#finish !== 'content_filter'
    this.#put(slot, { ...item, text: text.text, citations: text.citations, phase, status: isWhole ? 'completed' : 'incomplete' })
  }

  async #pushCall(delta: Extract<ModelDelta, { type: 'tool_call' }>): Promise<void> {
    let call = this.#calls.get(delta.index)
    // Some endpoints number every call 0: another id with another name is another call.
    if (call !== undefined && delta.id !== null && delta.name !== null && call.isOther(delta.id)) {
      this.#calls.set(-1 - this.#calls.size, call)
      call = undefined
    }
    if (call === undefined) {
      call = new OpenCall()
      this.#calls.set(delta.index, call)
    }
    call.add(delta)
    if (call.slot === null && call.name !== null) await this.#startCall(call, call.name)
    const piece = call.take()
    const { item } = call
    if (piece === '' || call.slot === null || item === null || item.type === 'web_search_call') return
    this.#options.emit(itemDelta(this.#indexOf(call.slot), item, piece), call.isFirstPiece() ? 'now' : 'paced')
  }

  async #startCall(call: OpenCall, name: string): Promise<void> {
    const kind = this.#options.kindOf(name)
    if (kind === null || this.#begun >= this.#options.maxCalls) return
    await this.#closeMessage('commentary')
    this.#begun += 1
    const item = call.begin(kind, this.#options.containerId, this.#next())
    call.slot = this.#open(item)
  }

  #closeCall(call: OpenCall, isCut: boolean): void {
    if (call.slot === null) {
      if (!isCut && this.#options.kindOf(call.name ?? '') === null) this.#unknown.push(call.asModelCall())
      return
    }
    const isWhole = !isCut && this.#finish !== 'length' && this.#finish !== 'content_filter'
    const { item, rest } = call.close(isWhole)
    const index = this.#indexOf(call.slot)
    if (rest !== '' && item.type !== 'web_search_call') this.#options.emit(itemDelta(index, item, rest), 'paced')
    this.#put(call.slot, item)
  }

  #open(item: ResponseItem): number {
    const slot = this.#items.push(item) - 1
    for (const fact of itemStarted(this.#indexOf(slot), item)) this.#options.emit(fact, 'soon')
    return slot
  }

  /** An item that waits to be run is not done yet. */
  #put(slot: number, item: ResponseItem): void {
    this.#items[slot] = item
    const index = this.#indexOf(slot)
    for (const fact of itemWritten(index, item)) this.#options.emit(fact, 'paced')
    const waits =
      item.type === 'code_interpreter_call' || item.type === 'web_search_call'
        ? item.status === 'in_progress'
        : item.type === 'function_call' && this.#options.kindOf(item.name) === 'server'
    if (!waits || item.status === 'incomplete') this.#options.emit(itemDone(index, item, { include: [] }), 'paced')
  }

  /** Where the next item goes. */
  #next(): { readonly responseId: string; readonly index: number } {
    return { responseId: this.#options.responseId, index: this.#indexOf(this.#items.length) }
  }

  #indexOf(slot: number): number {
    return this.#options.firstIndex + slot
  }
}
