import { outputItemId } from '../../../model/responses/item-ids.ts'
import type { ModelDelta } from '../../../ports/chat-model.ts'
import type { ModelToolCall } from '../../../model/responses/model-content.ts'
import type { EventPayload } from '../../../model/events.ts'
import type { FlushPriority } from '../../../jobs/event-log-writer.ts'
import type { Source } from '../../../model/responses/source.ts'
import { PYTHON } from '../../../model/responses/items/code-interpreter-call.ts'
import { AnswerThought } from './answer-thought.ts'
import { AnswerText, type LinkableFile } from './answer-text.ts'
import { fencedPython } from '../../../model/responses/fenced-code.ts'
import { OpenCall } from './open-call.ts'
import {
  callKindOf,
  type ResponseItem,
  itemDelta,
  itemDone,
  itemStarted,
  itemWritten,
  type CallKind,
} from '../../../model/responses/items/item-types.ts'
import type { MessageItem } from '../../../model/responses/items/message.ts'

export interface AnswerOptions {
  readonly responseId: string
  /** The `output_index` of the first item. */
  readonly firstIndex: number
  readonly files: readonly LinkableFile[]
  /** Pages that tools found in this turn. */
  readonly sources: readonly Source[]
  readonly containerId: string
  /** The turn ends with this answer, even if it calls tools. */
  readonly isLast: boolean
  /** Calls beyond this many are ignored. */
  readonly maxCalls: number
  /** Readers receive the text of the answer only after `close`, because it may have to be replaced. */
  readonly holdsText?: boolean
  /** The kind of the tool with this name; null when there is none. */
  kindOf(name: string): CallKind | null
  emit(payload: EventPayload, priority: FlushPriority): void
}

/** A call that becomes no item. */
export interface RejectedCall {
  readonly call: ModelToolCall
  /** What is wrong with its arguments; null when there is no tool of its name. */
  readonly problem: string | null
}

/** Converts one answer of the model into items and events while it arrives. */
export class AnswerStream {
  readonly #options: AnswerOptions
  /** In the order of their `output_index`; a slot is replaced when its item is closed. */
  readonly #items: ResponseItem[] = []
  #message: { readonly slot: number; readonly item: MessageItem; readonly text: AnswerText } | null = null
  #thought: AnswerThought | null = null
  readonly #calls = new Map<number, OpenCall>()
  /** Calls that appear when they are whole, in their order. */
  #waiting: { readonly call: OpenCall; readonly kind: CallKind }[] = []
  readonly #rejected: RejectedCall[] = []
  #held = ''
  #begun = 0
  #raw = ''
  #finish: Extract<ModelDelta, { type: 'finish' }>['reason'] | null = null

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  async push(delta: Exclude<ModelDelta, { type: 'usage' | 'dropped_parameters' }>): Promise<void> {
    if (delta.type === 'reasoning') return this.#pushThought(delta.text)
    if (delta.type === 'finish') this.#finish = delta.reason
    else if (delta.type === 'tool_call') await this.#pushCall(delta)
    else await this.#pushText(delta.text, delta.type === 'refusal')
  }

  /** Null until the model reports the end of its answer. */
  get finishReason(): 'stop' | 'length' | 'tool_calls' | 'content_filter' | null {
    return this.#finish
  }

  /**
   * Closes every item: calls are ready to run, or failed when their arguments are invalid. With `isCut`, open items end as `incomplete`.
   * `wantsCode`: fenced Python in an answer without calls becomes calls.
   */
  async close(how: { readonly isCut: boolean; readonly wantsCode?: boolean }): Promise<void> {
    const calls = [...this.#calls.values()]
    this.#closeThought(how.isCut)
    if (!how.isCut) await this.#startWaiting()
    const blocks = how.wantsCode === true && !how.isCut && calls.length === 0 ? fencedPython(this.#raw) : []
    const continues = blocks.length > 0 || calls.some((call) => call.slot !== null || !this.#options.isLast)
    if (continues) await this.#releaseCommentary()
    // Readers have nothing of a text that was held back, so the next attempt replaces it.
    else if (!how.isCut) await this.#showText(this.#takeHeld(), false)
    await this.#closeMessage(how.isCut ? null : continues ? 'commentary' : 'final_answer')
    for (const call of calls) this.#closeCall(call, how.isCut)
    for (const code of blocks) this.#addCode(code)
  }

  /** Complete after `close`. */
  get items(): readonly ResponseItem[] {
    return this.#items
  }

  /** Calls of unknown tools, and calls whose arguments no item can have; readers do not receive them. */
  get rejectedCalls(): readonly RejectedCall[] {
    return this.#rejected
  }

  /** The text that is held back, if it is the whole answer: no call, no code to run, not cut off. Null otherwise. `wantsCode` as in `close`. */
  finalText(wantsCode: boolean): string | null {
    const isWhole = this.#finish !== 'length' && this.#finish !== 'content_filter'
    if (!isWhole || this.#held.trim() === '' || this.#message !== null || this.#calls.size > 0) return null
    return wantsCode && fencedPython(this.#raw).length > 0 ? null : this.#held
  }

  /** Replaces the text that is held back; the empty string drops it. */
  replaceText(text: string): void {
    this.#held = text
  }

  /** Replaces the text that is held back by a refusal. */
  async refuse(text: string): Promise<void> {
    this.#held = ''
    await this.#showText(text, true)
  }

  #addCode(code: string): void {
    const call = new OpenCall()
    call.add({ type: 'tool_call', index: 0, id: null, name: null, arguments: JSON.stringify({ code }) })
    const item = call.begin(callKindOf(PYTHON, 'container'), this.#options.containerId, this.#next())
    call.slot = this.#open(item)
    this.#emitDelta({ slot: call.slot, item }, call.take(), 'now')
    this.#closeCall(call, false)
  }

  /** Thoughts come before the answer; later ones are not kept. */
  #pushThought(text: string): void {
    if (this.#thought === null) {
      if (text.trim() === '' || this.#raw !== '' || this.#items.length > 0) return
      this.#thought = new AnswerThought(this.#options.responseId, { slot: 0, index: this.#indexOf(0) })
      this.#open(this.#thought.item)
    }
    const { item } = this.#thought
    this.#emitDelta({ slot: this.#thought.slot, item }, this.#thought.push(text), item.text === '' ? 'now' : 'paced')
  }

  #closeThought(isCut: boolean): void {
    if (this.#thought !== null) this.#put(this.#thought.slot, this.#thought.end(isCut))
    this.#thought = null
  }

  async #pushText(text: string, isRefusal: boolean): Promise<void> {
    this.#raw += text
    if (this.#options.holdsText === true && !isRefusal) this.#held += text
    else await this.#showText(text, isRefusal)
  }

  #takeHeld(): string {
    const held = this.#held
    this.#held = ''
    return held
  }

  /** A caller that asked for JSON parses every message, so a text beside calls is shown only if it is JSON. */
  async #releaseCommentary(): Promise<void> {
    const text = this.#takeHeld()
    if (isJson(text)) await this.#showText(text, false)
  }

  async #showText(text: string, isRefusal: boolean): Promise<void> {
    if (this.#message === null) {
      // Line breaks around tool calls are not a message.
      if (text.trim() === '') return
      this.#closeThought(false)
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
    const { text: answer } = this.#message
    const isFirst = answer.text === ''
    const added = await answer.push(text)
    this.#emitDelta(this.#message, added, isFirst ? 'now' : 'paced')
  }

  async #closeMessage(phase: MessageItem['phase']): Promise<void> {
    if (this.#message === null) return
    const { slot, item, text } = this.#message
    this.#message = null
    this.#emitDelta({ slot, item }, await text.end(), 'paced')
    const isWhole = phase !== null && this.#finish !== 'length' && this.#finish !== 'content_filter'
    this.#put(slot, { ...item, text: text.text, citations: text.citations, phase, status: isWhole ? 'completed' : 'incomplete' })
  }

  async #pushCall(delta: Extract<ModelDelta, { type: 'tool_call' }>): Promise<void> {
    let call = this.#calls.get(delta.index)
    // Some endpoints give every call the index 0, so a new id with a new name is a new call.
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
    if (call.slot === null || call.item === null) return
    this.#emitDelta({ slot: call.slot, item: call.item }, piece, call.isFirstPiece() ? 'now' : 'paced')
  }

  async #startCall(call: OpenCall, name: string): Promise<void> {
    const kind = this.#options.kindOf(name)
    if (kind === null || this.#begun + this.#waiting.length >= this.#options.maxCalls) return
    if (kind.type.problemOf !== undefined) {
      if (!this.#waiting.some((one) => one.call === call)) this.#waiting.push({ call, kind })
      return
    }
    await this.#startWaiting()
    await this.#begin(call, kind)
  }

  async #startWaiting(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { call, kind } of waiting) {
      const problem = kind.type.problemOf?.(call.arguments) ?? null
      if (problem === null) await this.#begin(call, kind)
      else this.#rejected.push({ call: call.asModelCall(), problem })
    }
  }

  async #begin(call: OpenCall, kind: CallKind): Promise<void> {
    this.#closeThought(false)
    await this.#releaseCommentary()
    await this.#closeMessage('commentary')
    this.#begun += 1
    const item = call.begin(kind, this.#options.containerId, this.#next())
    call.slot = this.#open(item)
  }

  #closeCall(call: OpenCall, isCut: boolean): void {
    if (call.slot === null) {
      if (!isCut && this.#options.kindOf(call.name ?? '') === null) this.#rejected.push({ call: call.asModelCall(), problem: null })
      return
    }
    const isWhole = !isCut && this.#finish !== 'length' && this.#finish !== 'content_filter'
    const { item, rest } = call.close(isWhole)
    this.#emitDelta({ slot: call.slot, item }, rest, 'paced')
    this.#put(call.slot, item)
  }

  #emitDelta({ slot, item }: { readonly slot: number; readonly item: ResponseItem }, piece: string, priority: FlushPriority): void {
    const event = piece === '' ? null : itemDelta(this.#indexOf(slot), item, piece)
    if (event !== null) this.#options.emit(event, priority)
  }

  #open(item: ResponseItem): number {
    const slot = this.#items.push(item) - 1
    for (const payload of itemStarted(this.#indexOf(slot), item)) this.#options.emit(payload, 'soon')
    return slot
  }

  /** An item that waits to run is not done yet. */
  #put(slot: number, item: ResponseItem): void {
    this.#items[slot] = item
    const index = this.#indexOf(slot)
    for (const payload of itemWritten(index, item)) this.#options.emit(payload, 'paced')
    const waits = item.type === 'function_call' ? this.#options.kindOf(item.name)?.place === 'server' : item.status === 'in_progress'
    if (!waits || item.status === 'incomplete') this.#options.emit(itemDone(index, item, { include: [] }), 'paced')
  }

  /** The `output_index` of the next item. */
  #next(): { readonly responseId: string; readonly index: number } {
    return { responseId: this.#options.responseId, index: this.#indexOf(this.#items.length) }
  }

  #indexOf(slot: number): number {
    return this.#options.firstIndex + slot
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
