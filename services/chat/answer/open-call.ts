import { newId } from '../../core/ids.ts'
import { outputItemId } from '../../core/responses/item-ids.ts'
import type { ModelDelta, ModelToolCall } from '../../core/ports/chat-model.ts'
import type { SearchItem } from '../../core/responses/response.ts'
import type { CodeItem, FunctionItem } from '../../core/responses/item-events.ts'
import { failedCall } from '../outcome/failed-call.ts'
import { CodeArgumentReader } from './code-argument.ts'

/** `code` runs in the container, `server` and `search` are answered by a tool of this server, `caller` by the caller. */
export type CallKind = 'code' | 'server' | 'search' | 'caller'
type CallItem = CodeItem | FunctionItem | SearchItem

/** A tool call that the model is writing. */
export class OpenCall {
  /** Its place among the answer's items, once it has one. */
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
  get item(): CallItem | null {
    return this.#item
  }

  isOther(id: string): boolean {
    return id !== '' && this.#id !== null && this.#id !== id
  }

  /** `at`: the response, and the `output_index` that the item gets. */
  begin(kind: CallKind, containerId: string, at: { readonly responseId: string; readonly index: number }): CallItem {
    const callId = (this.#id ??= newId('functionCall').replace('fc_', 'call_'))
    this.#item =
      kind === 'search'
        ? {
            type: 'web_search_call',
            id: outputItemId('search', at.responseId, at.index),
            callId,
            arguments: '',
            status: 'in_progress',
            output: null,
            sources: [],
          }
        : kind === 'code'
          ? {
              type: 'code_interpreter_call',
              id: outputItemId('call', at.responseId, at.index),
              callId,
              containerId,
              code: '',
              status: 'in_progress',
              outcome: null,
            }
          : {
              type: 'function_call',
              id: outputItemId('functionCall', at.responseId, at.index),
              callId,
              name: this.#name ?? '',
              arguments: '',
              status: 'completed',
              output: null,
            }
    return this.#item
  }

  /** What a reader may see of the new arguments: code as it will run, or the JSON of a function's arguments; nothing of a search's. */
  take(): string {
    if (this.#item === null || this.#item.type === 'web_search_call') return ''
    const fresh = this.#fresh
    this.#fresh = ''
    const piece = this.#item.type === 'code_interpreter_call' ? this.#code.push(fresh) : fresh
    if (piece !== '') this.#pieces += 1
    return piece
  }

  isFirstPiece(): boolean {
    return this.#pieces === 1
  }

  /** The finished item and what of its text was not handed out before. */
  close(isWhole: boolean): { readonly item: CallItem; readonly rest: string } {
    const item = this.#item
    if (item === null) throw new Error('A call that was never begun cannot be closed')
    if (item.type === 'function_call')
      return { item: { ...item, arguments: this.#raw, status: isWhole ? 'completed' : 'incomplete' }, rest: '' }
    if (item.type === 'web_search_call')
      return { item: { ...item, arguments: this.#raw, status: isWhole ? 'in_progress' : 'incomplete' }, rest: '' }
    const { given } = this.#code
    if (!isWhole) return { item: { ...item, code: given, status: 'incomplete' }, rest: '' }
    const argument = this.#code.finish()
    if (argument.kind === 'code') {
      const rest = argument.code.startsWith(given) ? argument.code.slice(given.length) : ''
      return { item: { ...item, code: argument.code }, rest }
    }
    const why = `The call was not run: ${argument.why}. Call the tool again with arguments of the form {"code": "…"}, with quotes and line breaks escaped as JSON wants it.`
    // What readers have seen of the code stays; without any they see what the model sent.
    const code = given === '' ? argument.raw : given
    return { item: failedCall({ ...item, code }, 'invalid_arguments', why), rest: code.slice(given.length) }
  }

  asModelCall(): ModelToolCall {
    return { id: this.#id ?? newId('functionCall').replace('fc_', 'call_'), name: this.#name ?? '', arguments: this.#raw }
  }
}
