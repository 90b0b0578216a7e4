import { ID_PREFIXES, type IdKind } from '../ids.ts'

/** The id of an item that a response produces, by its `output_index`. It contains the id of its response, so that a reference to the item finds it. */
export const outputItemId = (kind: IdKind, responseId: string, index: number): string =>
  `${ID_PREFIXES[kind]}${responseId.slice(responseId.indexOf('_') + 1)}${index.toString(36).padStart(2, '0')}`

const ITEM_ID = /^[a-z]+_([0-9a-z]{26})(?:[0-9a-z]{2,4}|_\d{1,6})$/

/** The response that an item of input or output belongs to; null for an id of another form. The item need not exist. */
export function responseIdOfItem(itemId: string): string | null {
  const ulid = ITEM_ID.exec(itemId)?.[1]
  return ulid === undefined ? null : `${ID_PREFIXES.response}${ulid}`
}
