import { newId } from '../../../model/ids.ts'
import type { ModelDelta } from '../../../ports/chat-model.ts'
import type { ModelToolCall } from '../../../model/responses/model-content.ts'
import { failedCall } from '../outcome/failed-call.ts'
import { CodeArgumentReader } from './code-argument.ts'
import { beginCall, closeCall, type CallItem, type CallKind } from '../../../model/responses/items/item-types.ts'

/** A tool call that the model is writing. */
export class OpenCall {
  /** Its position among the answer's items, when it has one. */
  slot: number | null = null
  #id: string | null = null
  #name: string | null = null
  #raw = ''
  #fresh = ''
  #pieces = 0
  #item: CallItem | null = null
  readonly #code = new CodeArgumentReader()

  add(delta: Extract<ModelDelta, { type: 'tool_call' }>): void {
    if (delta.id !== null && delta.id !== '') this.#id ??= delta.id
    if (delta.name !== null && delta.name !== '') this.#name ??= delta.name
    this.#raw += delta.arguments
    this.#fresh += delta.arguments
  }

  get name(): string | null {
    return this.#name
  }
  get arguments(): string {
    return this.#raw
  }
  get item(): CallItem | null {
    return this.#item
  }

  isOther(id: string): boolean {
    return id !== '' && this.#id !== null && this.#id !== id
  }

  /** `at`: the response, and the `output_index` that the item gets. */
  begin(kind: CallKind, containerId: string, at: { readonly responseId: string; readonly index: number }): CallItem {
    const callId = (this.#id ??= newId('functionCall').replace('fc_', 'call_'))
    const item = beginCall(kind, at, { callId, name: this.#name ?? '', containerId })
    this.#item = kind.type.problemOf === undefined ? item : closeCall(item, this.#raw, true)
    return this.#item
  }

  /** The part of the new arguments that readers receive: code, or the JSON of the arguments. */
  take(): string {
    if (this.#item === null) return ''
    const fresh = this.#fresh
    this.#fresh = ''
    const piece = this.#item.type === 'code_interpreter_call' ? this.#code.push(fresh) : fresh
    if (piece !== '') this.#pieces += 1
    return piece
  }

  isFirstPiece(): boolean {
    return this.#pieces === 1
  }

  /** The finished item, and the part of its text that was not returned before. */
  close(isWhole: boolean): { readonly item: CallItem; readonly rest: string } {
    const item = this.#item
    if (item === null) throw new Error('A call that was never begun cannot be closed')
    const { given } = this.#code
    const closed = closeCall(item, this.#raw, isWhole)
    if (item.type !== 'code_interpreter_call') return { item: closed, rest: '' }
    if (!isWhole) return { item: { ...item, code: given, status: 'incomplete' }, rest: '' }
    const argument = this.#code.finish()
    if (argument.kind === 'code') {
      const rest = argument.code.startsWith(given) ? argument.code.slice(given.length) : ''
      return { item: { ...item, code: argument.code }, rest }
    }
    const why = `The call was not run: ${argument.why}. Call the tool again with arguments of the form {"code": "…"}, with quotes and line breaks escaped as JSON wants it.`
    // Code that readers have received stays; if there is none, they receive what the model sent.
    const code = given === '' ? argument.raw : given
    return { item: failedCall({ ...item, code }, 'invalid_arguments', why), rest: code.slice(given.length) }
  }

  asModelCall(): ModelToolCall {
    return { id: this.#id ?? newId('functionCall').replace('fc_', 'call_'), name: this.#name ?? '', arguments: this.#raw }
  }
}
