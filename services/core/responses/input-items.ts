import type { ResponseRequest } from './response.ts'

export type WireItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/**
 * The caller's input as items with ids. `idOf` gives an id for the item of this type at this position; `given` is the one that the caller
 * wrote, if any.
 */
export function wireItems(
  input: ResponseRequest['input'],
  idOf: (type: string, index: number, given: string | null) => string,
): readonly WireItem[] {
  const items: readonly Readonly<Record<string, unknown>>[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const common = { ...item, type, id: idOf(type, index, typeof item['id'] === 'string' ? item['id'] : null) }
    if (type !== 'message') return common
    const part = item['role'] === 'assistant' ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
    return {
      ...common,
      status: 'completed',
      content: typeof item['content'] === 'string' ? [{ ...part, text: item['content'] }] : item['content'],
    }
  })
}

/** The id of an input item that has none, by its position, the same every time. */
export const inputItemId = (responseId: string, type: string, index: number): string =>
  `${type === 'message' ? 'msg' : 'item'}_${responseId.slice(responseId.indexOf('_') + 1)}_${index}`
