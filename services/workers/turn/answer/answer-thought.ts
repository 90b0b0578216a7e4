import { outputItemId } from '../../../model/responses/item-ids.ts'
import type { ReasoningItem } from '../../../model/responses/items/reasoning.ts'

/** Thoughts of one answer beyond this length are not kept, UTF-16 units. */
export const MAX_THOUGHT_LENGTH = 64 * 1024
const CUT = '\n\n[The rest is not kept.]'

/** The growing text that a model thinks before it answers, as an item. */
export class AnswerThought {
  /** Its place among the items of the answer. */
  readonly slot: number
  #item: ReasoningItem

  constructor(responseId: string, place: { readonly slot: number; readonly index: number }) {
    this.slot = place.slot
    this.#item = {
      type: 'reasoning',
      id: outputItemId('reasoning', responseId, place.index),
      status: 'in_progress',
      text: '',
    }
  }

  get item(): ReasoningItem {
    return this.#item
  }

  /** The text that readers receive for this piece; empty once the length is reached. */
  push(text: string): string {
    const space = MAX_THOUGHT_LENGTH - this.#item.text.length
    if (space <= 0) return ''
    const piece = text.length <= space ? text : `${text.slice(0, space).toWellFormed()}${CUT}`
    this.#item = { ...this.#item, text: this.#item.text + piece }
    return piece
  }

  end(isCut: boolean): ReasoningItem {
    this.#item = { ...this.#item, status: isCut ? 'incomplete' : 'completed' }
    return this.#item
  }
}
