import type { ResponseRequest } from './response.ts'

export type WireItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/**
 * The client's input as items with ids. `idOf` returns an id for the item of this type at this position; `given` is the id in the request, if any.
 */
export function wireItems(
  input: ResponseRequest['input'],
  idOf: (type: string, index: number, given: string | null) => string,
): readonly WireItem[] {
  const items: readonly Readonly<Record<string, unknown>>[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const common = { ...item, type, id: idOf(type, index, typeof item['id'] === 'string' ? item['id'] : null) }
    if (type === 'function_call' || type === 'function_call_output') return { status: 'completed', ...common }
    if (type !== 'message') return common
    const part = item['role'] === 'assistant' ? { type: 'output_text', annotations: [], logprobs: [] } : { type: 'input_text' }
    return {
      ...common,
      status: 'completed',
      content: typeof item['content'] === 'string' ? [{ ...part, text: item['content'] }] : partsOf(item['content']),
    }
  })
}

/** Content parts with the fields that OpenAI's wire always has. */
function partsOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return (content as readonly Readonly<Record<string, unknown>>[]).map((part) =>
    part['type'] === 'output_text'
      ? { annotations: [], logprobs: [], ...part }
      : part['type'] === 'input_image'
        ? { detail: 'auto', ...part }
        : part,
  )
}

/** The deterministic id of an input item without an id, derived from its position. */
export const inputItemId = (responseId: string, type: string, index: number): string =>
  `${type === 'message' ? 'msg' : 'item'}_${responseId.slice(responseId.indexOf('_') + 1)}_${index}`
