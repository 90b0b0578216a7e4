import type { Response as ResponseRow } from '../../core/response.ts'

type WireItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/** What was asked, as items with ids: an item without one gets one by its position, the same every time. */
export function inputItems({ id, request }: Pick<ResponseRow, 'id' | 'request'>): readonly WireItem[] {
  const items: readonly Readonly<Record<string, unknown>>[] =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const fallback = `${type === 'message' ? 'msg' : 'item'}_${id.slice(id.indexOf('_') + 1)}_${index}`
    const common = { ...item, type, id: typeof item['id'] === 'string' ? item['id'] : fallback }
    if (type !== 'message') return common
    const kind = item['role'] === 'assistant' ? 'output_text' : 'input_text'
    return {
      ...common,
      status: 'completed',
      content: typeof item['content'] === 'string' ? [{ type: kind, text: item['content'] }] : item['content'],
    }
  })
}
